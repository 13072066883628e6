package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/event"
)

func TestRenderMarkdown(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, source, want string }{
		{"nothing", "", ""},
		{"paragraphs keep their lines", "one\ntwo\n\nthree", "one\ntwo\n\nthree"},
		{"long lines are wrapped at words", "aaaa bbbb cccc dddd eeee", "aaaa bbbb cccc dddd\neeee"},
		{"heading", "# Title\ntext", "Title\n\ntext"},
		{
			"code is not touched but for what is too wide", "```go\nif a {\n\tb()\n}\n12345678901234567890\n```",
			"  if a {\n      b()\n  }\n  123456789012345678\n  90",
		},
		{"lists", "- a\n  - b\n- c\n\n3. x\n4. y", "• a\n  • b\n• c\n\n3. x\n4. y"},
		{"tasks", "- [x] a\n- [ ] b", "• ☑ a\n• ☐ b"},
		{"quote", "> one\n> two", "│ one\n│ two"},
		{"links", "[a](http://b) <http://c> http://d", "a (http://b)\nhttp://c http://d"},
		{"inline", "*a* **b** `c` ~~d~~", "a b c d"},
		{"escape sequences", "a\x1b[31mb\x1b]0;title\x07c\x07", "abc"},
		{
			"table", "| a | b |\n|---|---|\n| 1 | 2 |",
			"┌───┬───┐\n│ a │ b │\n├───┼───┤\n│ 1 │ 2 │\n└───┴───┘",
		},
		{"an open code block, as while it is streamed", "```\ncode", "  code"},
		{"wide characters", "日本語日本語日本語日本語", "日本語日本語日本語日\n本語"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, trimLines(ansi.Strip(renderMarkdown(tt.source, 20))))
		})
	}
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func TestHistory(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data", "history")
	h, err := openHistory(path)
	require.NoError(t, err)
	for _, entry := range []string{"one", "two\nlines", "two\nlines", "three"} {
		require.NoError(t, h.add(entry))
	}
	h, err = openHistory(path)
	require.NoError(t, err)
	require.Equal(t, []string{"one", "two\nlines", "three"}, h.entries)
	for _, want := range []string{"three", "two\nlines", "one"} {
		entry, ok := h.back("draft")
		require.True(t, ok)
		require.Equal(t, want, entry)
	}
	_, ok := h.back("one")
	require.False(t, ok)
	for _, want := range []string{"two\nlines", "three", "draft"} {
		entry, ok := h.forward()
		require.True(t, ok)
		require.Equal(t, want, entry)
	}
	_, ok = h.forward()
	require.False(t, ok)
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("\"a\"\nbroken\n", 2*historyLimit+1)), 0o600))
	h, err := openHistory(path)
	require.NoError(t, err)
	require.Len(t, h.entries, historyLimit)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, historyLimit, bytes.Count(raw, []byte("\n")))
}

func TestEventLabel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		event event.Event
		want  string
	}{
		{event.Event{Kind: event.Text, Text: "Hel"}, "writing"},
		{event.Event{Kind: event.Reset}, "thinking"},
		{event.Event{Kind: event.ToolStart, Tool: "exec", Text: "ls"}, "exec: ls"},
		{event.Event{Kind: event.ToolStart, Tool: "list"}, "list"},
		{event.Event{Kind: event.Retry, Text: "attempt 1 of 8 failed: it is away"}, "attempt 1 of 8 failed: it is away"},
		{event.Event{Kind: event.ToolProgress, Tool: "exec", Text: "12 lines"}, "exec: 12 lines"},
		{event.Event{Kind: event.TurnJoined}, ""},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, eventLabel(tt.event))
	}
}

func TestStatusLine(t *testing.T) {
	t.Parallel()
	require.Equal(t, "⠙ 1:05 exec: l…", statusLine(1, "exec: ls -la", 65e9, 16))
}

func TestProgress(t *testing.T) {
	t.Parallel()
	var nobody *Progress
	nobody.Show("nothing")
	nobody.Stop()

	var buffer bytes.Buffer
	p := newProgress(&buffer, func() int { return 40 })
	p.On(event.Event{Kind: event.ToolStart, Tool: "exec", Text: "a\nb\x1b[2J"})
	p.draw()
	p.Stop()
	p.Stop()
	require.Contains(t, buffer.String(), "0:00 exec: a b")
	require.NotContains(t, buffer.String(), "\x1b[2J")
	require.True(t, strings.HasSuffix(buffer.String(), eraseLine))
}

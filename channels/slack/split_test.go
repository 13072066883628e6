package slack_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func split(t *testing.T, text string) []domain.Part {
	t.Helper()
	c, err := slack.New(slack.Options{BotToken: "xoxb-1"})
	require.NoError(t, err)
	parts := c.Split(text)
	require.Equal(t, parts, c.Split(text))
	return parts
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	return b.String()
}

func TestSplit(t *testing.T) {
	t.Parallel()
	short := "Look:\n\n```go\n" + lines(60) + "```\n\n| a |\n|---|\n| 1 |"
	long := lines(61)
	tests := []struct {
		name, text string
		want       []domain.Part
	}{
		{"nothing", " \n", nil},
		{"what fits stays as it is", short, []domain.Part{{Text: short}}},
		{
			"long code is a file in its place", "Look:\n\n```go\n" + long + "```\n\nand\n\n~~~~\n" + long + "~~~~\n",
			[]domain.Part{{Text: "Look:"}, {Text: long, File: "snippet-1.go"}, {Text: "and"}, {Text: long, File: "snippet-2.txt"}},
		},
		{"nothing but long code", "```Python title=\"x\"\n" + long + "```", []domain.Part{{Text: long, File: "snippet-1.py"}}},
		{"code without an end", "x\n```c++\n" + long, []domain.Part{{Text: "x"}, {Text: long, File: "snippet-1.cpp"}}},
		{"a language that is no extension", "```../../x\n" + long + "```", []domain.Part{{Text: long, File: "snippet-1.txt"}}},
		{
			"few lines that are long", "```json\n" + strings.Repeat("x", 3001) + "\n```\nend",
			[]domain.Part{{Text: strings.Repeat("x", 3001) + "\n", File: "snippet-1.json"}, {Text: "end"}},
		},
		{
			"paragraphs", strings.Repeat("a", 6000) + "\n\n" + strings.Repeat("b", 6000),
			[]domain.Part{{Text: strings.Repeat("a", 6000)}, {Text: strings.Repeat("b", 6000)}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, tt.want, split(t, tt.text))
		})
	}

	t.Run("a long table is a file", func(t *testing.T) {
		t.Parallel()
		parts := split(t, "Look:\n\n| n | name |\n|--:|---|\n"+strings.Repeat("| 1 | some name |\n", 400))
		require.Len(t, parts, 2)
		require.Equal(t, "snippet-1.txt", parts[1].File)
		require.True(t, strings.HasPrefix(parts[1].Text, "| n | name      |\n|---|-----------|\n| 1 | some name |\n"), parts[1].Text)
	})
}

// longs are texts that do not fit into a message, or only until they are rendered.
var longs = map[string]string{
	"words":      strings.Repeat("word ", 3000),
	"characters": strings.Repeat("日本語。", 3000),
	"escapes":    strings.Repeat("a < b && c > d ", 600),
	"brackets":   strings.Repeat("<", 9000),
	"lists":      strings.Repeat("- one\n  - two\n    - three\n", 300),
	"code":       strings.Repeat("Some words.\n\n```go\nif a < b && c {\n\tf()\n}\n```\n\n", 200),
	"a wide table": "| a | b |\n|---|---|\n| " + strings.Repeat("x", 1500) + " | y |\n" +
		strings.Repeat("| a | b |\n", 10),
	"links":  strings.Repeat("[l](https://example.com/?a=1&b=2) ", 400),
	"quotes": strings.Repeat("> quoted <text>\n", 500),
}

func TestEveryPartFits(t *testing.T) {
	t.Parallel()
	for name, text := range longs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
			thread := s.asked()
			parts := split(t, text)
			require.NotEmpty(t, parts)
			for i, part := range parts {
				msg := outgoing(fmt.Sprintf("o1.%d", i), thread, part.Text)
				if part.File != "" {
					msg.Text, msg.File, msg.Content = "", part.File, []byte(part.Text)
				} else if i%2 == 1 {
					msg.Draft = s.draft(msg.ID, thread)
				}
				s.send(msg)
			}
			posted := s.Posted()
			require.Len(t, posted, len(parts))
			for i, m := range posted {
				require.LessOrEqual(t, utf8.RuneCountInString(m.Text), 40_000)
				if parts[i].File == "" {
					require.NotContains(t, string(m.Blocks), "…", "it was cut")
					require.NotNil(t, m.Blocks)
				}
			}
		})
	}
}

// report is a long answer with code and tables.
func report() string {
	var b strings.Builder
	for i := 1; b.Len() < 30_000; i++ {
		fmt.Fprintf(&b, "## Section %d\n\n%s\n\n", i, strings.Repeat("A sentence of the report. ", 40))
		b.WriteString("```go\nfunc main() {\n\tprintln(\"hi\")\n}\n```\n\n| name | value |\n|---|---|\n| a | 1 |\n| b | 2 |\n\n")
	}
	return b.String()
}

func TestALongReplyIsAFewMessagesApart(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho(), slacktest.PostEvery(50*time.Millisecond))
	s.channel.Space(60 * time.Millisecond)
	thread := s.asked()
	parts := split(t, report())
	require.Len(t, parts, 3)
	for i, part := range parts {
		msg := outgoing(fmt.Sprintf("o1.%d", i), thread, part.Text)
		msg.Part = i + 1
		s.send(msg)
	}
	require.Len(t, s.Calls("chat.postMessage"), 3, "none was refused")
	require.Len(t, s.Posted(), 3)
}

// A part that cannot wait any longer is left to the next attempt, which is told when.
func TestAPartThatWouldBeTooSoon(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
	s.channel.Space(time.Hour)
	thread := s.asked()
	msg := outgoing("o1.1", thread, "first")
	msg.Part = 1
	s.send(msg)
	ctx, cancel := context.WithTimeout(s.ctx, time.Minute)
	defer cancel()
	msg = outgoing("o1.2", thread, "second")
	msg.Part = 2
	_, err := s.channel.Send(ctx, msg)
	failed := remote.As(err)
	require.NotNil(t, failed)
	require.Equal(t, 429, failed.Status)
	require.Greater(t, failed.RetryAfter, 50*time.Minute)
	require.Len(t, s.Posted(), 1)
}

// Where Slack refuses blocks, nothing of a long text is lost.
func TestALongTextWithoutBlocks(t *testing.T) {
	t.Parallel()
	s := sendingTo(t, slack.Options{}, slacktest.WithoutEcho())
	thread := s.asked()
	long := strings.TrimSpace(strings.Repeat("word ", 2000))
	s.Fail("chat.postMessage", 1, slacktest.Fault{Error: "invalid_blocks"})
	s.send(outgoing("o1", thread, long))
	require.Equal(t, long, s.Posted()[0].Text)

	reply := outgoing("o2", thread, long)
	reply.Draft = s.draft("o2", thread)
	s.Fail("chat.update", 1, slacktest.Fault{Error: "invalid_blocks"})
	s.Fail("chat.postMessage", 1, slacktest.Fault{Error: "invalid_blocks"})
	s.send(reply)
	posted := s.Posted()
	require.Len(t, posted, 2, "the draft was replaced")
	require.Equal(t, long, posted[1].Text)
}

package slack_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
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
			"paragraphs", strings.Repeat("a", 2000) + "\n\n" + strings.Repeat("b", 2000),
			[]domain.Part{{Text: strings.Repeat("a", 2000)}, {Text: strings.Repeat("b", 2000)}},
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
				require.NotContains(t, m.Text, "…", "it was cut")
				require.LessOrEqual(t, utf8.RuneCountInString(m.Text), 4000)
				if parts[i].File == "" {
					require.NotNil(t, m.Blocks)
				}
			}
		})
	}
}

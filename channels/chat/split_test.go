package chat_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// cutting is a platform whose messages end at every "!".
type cutting struct{ *plain }

func (cutting) Limits() chat.Limits {
	return chat.Limits{Text: 10, Cut: func(text string) []string { return strings.SplitAfter(text, "!") }}
}

func TestSplitCutsWhereMessagesMustEnd(t *testing.T) {
	t.Parallel()
	out := chat.NewOutbound(cutting{newPlain()}, chat.OutboundOptions{})
	var texts []string
	for _, part := range out.Split("one!two three four five") {
		texts = append(texts, part.Text)
	}
	require.Equal(t, []string{"one!", "two three", "four five"}, texts)
	require.Len(t, out.Split("one two"), 1)
}

// scant is a platform that takes two messages of a reply at once.
type scant struct{ *plain }

func (scant) Limits() chat.Limits { return chat.Limits{Text: 300, Answer: 2} }

func TestSplitSaysThatMoreFollows(t *testing.T) {
	t.Parallel()
	out := chat.NewOutbound(scant{newPlain()}, chat.OutboundOptions{})
	parts := out.Split(strings.Repeat("some words. ", 80))
	require.Len(t, parts, 4)
	for i, part := range parts {
		require.Equal(t, i == 1, strings.HasSuffix(part.Text, "(More follows, at the latest when you write again.)"), "%d", i)
		require.LessOrEqual(t, len(part.Text), 300)
	}
	require.Equal(t, "short", out.Split("short")[0].Text)
}

// filing is a platform on which long code is a file.
type filing struct{ *plain }

func (filing) Limits() chat.Limits {
	return chat.Limits{Text: 100, Code: chat.Code{Runes: 60, Lines: 3}}
}

func FuzzSplit(f *testing.F) {
	f.Add("Look:\n\n```go\nfirst()\nsecond()\nthird()\nfourth()\n```\n\nDone.")
	f.Add("- in a list\n\n  ```\n  a\n  b\n  c\n  d\n  ```\n> ~~~\n> " + strings.Repeat("x", 200))
	f.Add("```\n```\n\n~~~a`b\n" + strings.Repeat("y\n", 50))
	f.Add("\xff\xfe" + strings.Repeat("words and 👩‍👩‍👧 ", 30))
	out := chat.NewOutbound(filing{newPlain()}, chat.OutboundOptions{})
	f.Fuzz(func(t *testing.T, text string) {
		var all strings.Builder
		for _, part := range out.Split(text) {
			if part.File == "" {
				require.LessOrEqual(t, chat.Runes(part.Text), 100)
				require.NotEmpty(t, strings.TrimSpace(part.Text))
			}
			all.WriteString(part.Text)
		}
		if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
			require.Equal(t, bare(text), bare(all.String()), "without code nothing is added or left out")
		}
	})
}

// bare returns text without white space.
func bare(text string) string {
	return strings.Join(strings.FieldsFunc(text, unicode.IsSpace), "")
}

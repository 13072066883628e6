package chat_test

import (
	"strings"
	"testing"

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

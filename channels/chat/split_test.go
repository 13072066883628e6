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

package command

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// TestReplyThatCannotBeDelivered has a platform that takes messages but no replies: the
// conversation goes on, and its replies follow in order.
func TestReplyThatCannotBeDelivered(t *testing.T) {
	t.Parallel()
	memory := channeltest.NewMemory("memory")
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step { return llmtest.Text("heard: " + topic(r)) })
	n := startNode(t, model.URL, func(_ *config.Config, r *node.Roles) { r.Push = map[string]node.PushChannel{"memory": memory} })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	memory.Fail(1 << 30)
	say := func(id, text string) {
		require.NoError(t, memory.Deliver(ctx, domain.Inbound{PlatformID: id, Chat: "c", Sender: "ana", Text: text}))
	}
	for _, text := range []string{"m1", "m2"} {
		say(text, text)
		require.Eventually(t, func() bool {
			turn, err := n.store.Turn(ctx, domain.MessageID("memory", "", text))
			return err == nil && turn.Status == domain.TurnDone
		}, patience, 10*time.Millisecond)
	}
	say("new", "/new")
	say("m3", "m3")
	require.NoError(t, model.Await(ctx, 3))
	require.Len(t, model.Requests()[2].Messages, 2, "the conversation is new")
	memory.Fail(0)
	posted, err := memory.Await(ctx, 4)
	require.NoError(t, err)
	var texts []string
	for _, p := range posted {
		texts = append(texts, p.Text)
	}
	require.Equal(t, []string{"heard: m1", "heard: m2", "New conversation.", "heard: m3"}, texts)
}

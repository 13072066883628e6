package activities_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// answerOf runs a turn for a message and returns what its first attempt left to deliver.
func (b *bundle) answerOf(t *testing.T, message string) string {
	t.Helper()
	result, err := b.complete(t, message, 1, message)
	require.NoError(t, err)
	return result.Outbox
}

// help runs the command /help for a message and returns what its first attempt left to
// deliver.
func (b *bundle) help(t *testing.T, message string) string {
	t.Helper()
	b.accept(t, message, "/help", true)
	result, err := execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{
		Session: session, Message: message, Command: domain.CommandHelp,
	})
	require.NoError(t, err)
	return result.Outbox
}

// postedIDs are the IDs of what was posted.
func postedIDs(memory *channeltest.Memory) (all []string) {
	for _, msg := range memory.Posted() {
		all = append(all, msg.ID)
	}
	return all
}

func (b *bundle) state(t *testing.T, outbox string) domain.OutboxState {
	t.Helper()
	out, err := b.store.Outbox(t.Context(), outbox)
	require.NoError(t, err)
	return out.State
}

func TestKept(t *testing.T) {
	t.Parallel()

	t.Run("replies are sent in order before the next one", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("one"), llmtest.Text("two"), llmtest.Text("three"))
		memory.Limit("c1", 0)
		require.Empty(t, b.answerOf(t, "m1"), "the session does not wait for it")
		b.accept(t, "m2", "more", true)
		require.Empty(t, b.answerOf(t, "m2"))
		require.Empty(t, memory.Posted())
		require.Equal(t, domain.OutboxKept, b.state(t, "o1"))
		require.Equal(t, domain.OutboxKept, b.state(t, "o2"))

		memory.Limit("c1", 2)
		b.accept(t, "m3", "and?", true)
		require.Empty(t, b.answerOf(t, "m3"))
		require.Equal(t, []string{"o1", "o2"}, postedIDs(memory))
		require.Equal(t, domain.OutboxKept, b.state(t, "o3"), "two used the budget up")

		memory.Limit("c1", 10)
		require.Empty(t, b.help(t, "m4"), "a command's reply brings it, too")
		require.Equal(t, []string{"o1", "o2", "o3", "o4"}, postedIDs(memory))
		require.Equal(t, domain.OutboxSent, b.state(t, "o3"))
	})

	t.Run("a reply is sent as the answer to the message that it was kept for", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("one"))
		memory.Limit("c1", 0)
		require.Empty(t, b.answerOf(t, "m1"))
		memory.Limit("c1", 10)
		_, _, err := b.store.Accept(t.Context(), domain.Inbound{
			ID: "m2", PlatformID: "2", Session: session.Key, Channel: session.Channel, Chat: "c1", Sender: "ana", Text: "/help", Command: domain.CommandHelp, Push: true,
		})
		require.NoError(t, err)
		_, err = execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{Session: session, Message: "m2", Command: domain.CommandHelp})
		require.NoError(t, err)
		require.Equal(t, "2", memory.Posted()[0].ReplyTo)
	})

	t.Run("the Deliver activity ends, too", func(t *testing.T) {
		t.Parallel()
		b, in := replied(t)
		memory := channeltest.NewMemory("test")
		memory.Limit("c1", 0)
		result, err := deliver(t, b, memory, in)
		require.NoError(t, err)
		require.Equal(t, protocol.DeliverResult{Kept: true}, result)
	})

	t.Run("a reply whose draft is above is posted anew", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, calls(1, "absent", "{}"), llmtest.Text("one"))
		require.Empty(t, b.answerOf(t, "m1"))
		claimed, err := b.store.ClaimDraft(t.Context(), "m1")
		require.NoError(t, err)
		require.True(t, claimed)
		draft, err := memory.Send(t.Context(), domain.Outbound{ID: "draft", Chat: "c1", Text: "…"})
		require.NoError(t, err)
		_, err = b.store.PostedDraft(t.Context(), "m1", draft.PlatformID)
		require.NoError(t, err)

		memory.Limit("c1", 0)
		_, err = b.complete(t, "m1", 2)
		require.NoError(t, err)
		require.Equal(t, domain.OutboxKept, b.state(t, "o1"))
		memory.Limit("c1", 10)
		require.Empty(t, b.help(t, "m2"))
		require.Equal(t, []string{"o1", "o2"}, postedIDs(memory))
		out, err := b.store.Outbox(t.Context(), "o1")
		require.NoError(t, err)
		require.NotEqual(t, draft.PlatformID, out.PlatformID)
		_, err = b.store.Draft(t.Context(), "m1")
		require.ErrorIs(t, err, domain.ErrNotFound)
	})

	t.Run("a reply is not doubled when the answer to its post is lost", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("one"))
		memory.Limit("c1", 0)
		require.Empty(t, b.answerOf(t, "m1"))
		memory.Limit("c1", 10)
		memory.LoseResponse(1)
		require.Equal(t, "o2", b.help(t, "m2"))
		require.Equal(t, []string{"o1"}, postedIDs(memory))
		_, err := deliver(t, b, memory, protocol.DeliverInput{Outbox: "o2"})
		require.NoError(t, err)
		require.Equal(t, []string{"o1", "o2"}, postedIDs(memory))
	})

	t.Run("a reply that another delivery may be sending is waited for", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("one"))
		memory.Limit("c1", 0)
		require.Empty(t, b.answerOf(t, "m1"))
		memory.Limit("c1", 10)
		kept, err := b.store.Kept(t.Context(), session.Channel, "c1")
		require.NoError(t, err)
		_, err = b.store.ClaimKept(t.Context(), kept[0])
		require.NoError(t, err)
		require.Equal(t, "o2", b.help(t, "m2"))
		_, err = deliver(t, b, memory, protocol.DeliverInput{Outbox: "o2"})
		require.ErrorContains(t, err, "an earlier reply of the chat is being delivered")
		require.Empty(t, memory.Posted())
	})
}

func TestKeptParts(t *testing.T) {
	t.Parallel()
	b, in := replied(t)
	memory := channeltest.NewMemory("test")
	parts := splitting{memory}
	memory.Limit("c1", 1)
	result, err := deliver(t, b, parts, in)
	require.NoError(t, err)
	require.True(t, result.Kept)
	require.Len(t, memory.Posted(), 1)
	memory.Limit("c1", 10)
	b.accept(t, "m2", "/help", true)
	_, _, err = b.store.Answer(t.Context(), store.AnswerInput{Session: session.Key, Channel: session.Channel, Message: "m2", Reply: "help"})
	require.NoError(t, err)
	_, err = deliver(t, b, parts, protocol.DeliverInput{Outbox: "o2"})
	require.NoError(t, err)
	var all []string
	for _, msg := range memory.Posted() {
		all = append(all, msg.Text)
	}
	require.Equal(t, []string{"he", "llo", "he", "lp"}, all)
}

// splitting is a channel that sends each message in two parts.
type splitting struct{ *channeltest.Memory }

func (splitting) Split(text string) []domain.Part {
	return []domain.Part{{Text: text[:2]}, {Text: text[2:]}}
}

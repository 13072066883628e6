package activities_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// setupPush is a bundle whose agent serves a push channel.
func setupPush(t *testing.T, script ...llmtest.Step) (*bundle, *channeltest.Memory) {
	t.Helper()
	b := setup(t, script...)
	memory := channeltest.NewMemory(session.Channel)
	b.options.Channels.Outboxes = map[string]*activities.Outbox{session.Channel: activities.NewOutbox(b.store, memory, b.workspace)}
	var err error
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
	b.accept(t, "m1", "hi", true)
	return b, memory
}

func TestFirstAttempt(t *testing.T) {
	t.Parallel()

	t.Run("a reply behind others is left to them", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("hello"))
		result, err := execute[protocol.CompleteResult](t, b.agent.Complete, protocol.CompleteInput{
			Session: session, Turn: "m1", Step: 1, Messages: []string{"m1"}, Behind: true,
		})
		require.NoError(t, err)
		require.Equal(t, "o1", result.Outbox)
		require.Empty(t, memory.Posted())
	})

	t.Run("a reply does not overtake another session's", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("one"), llmtest.Text("two"))
		memory.Fail(1)
		require.Equal(t, "o1", b.answerOf(t, "m1"))
		job := domain.SessionRef{Key: "job:j", Channel: session.Channel}
		_, _, err := b.store.Accept(t.Context(), domain.Inbound{
			ID: "m2", Session: job.Key, Channel: job.Channel, Chat: "c1", Sender: "ana", Text: "more", Push: true,
		})
		require.NoError(t, err)
		result, err := execute[protocol.CompleteResult](t, b.agent.Complete, protocol.CompleteInput{
			Session: job, Turn: "m2", Step: 1, Messages: []string{"m2"},
		})
		require.NoError(t, err)
		require.Equal(t, "o2", result.Outbox)
		_, err = deliver(t, b, memory, protocol.DeliverInput{Outbox: "o2"})
		require.False(t, failed(t, err).NonRetryable())
		for _, id := range []string{"o1", "o2"} {
			_, err = deliver(t, b, memory, protocol.DeliverInput{Outbox: id})
			require.NoError(t, err)
		}
		require.Equal(t, []string{"o1", "o2"}, postedIDs(memory))
	})

	t.Run("the last Complete delivers the reply, once", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("hello"))
		for range 2 {
			result, err := b.complete(t, "m1", 1, "m1")
			require.NoError(t, err)
			require.Empty(t, result.Outbox)
		}
		require.Len(t, memory.Posted(), 1)
		require.Equal(t, "hello", memory.Posted()[0].Text)
	})

	t.Run("leaves a reply that the channel rejects to Deliver", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("hello"))
		memory.Fail(1)
		result, err := b.complete(t, "m1", 1, "m1")
		require.NoError(t, err)
		require.Equal(t, "o1", result.Outbox)
		_, err = deliver(t, b, memory, protocol.DeliverInput{Outbox: result.Outbox})
		require.NoError(t, err)
		require.Len(t, memory.Posted(), 1)
	})

	t.Run("whose response was lost is found by Deliver", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("hello"))
		memory.LoseResponse(1)
		result, err := b.complete(t, "m1", 1, "m1")
		require.NoError(t, err)
		require.Equal(t, "o1", result.Outbox)
		_, err = deliver(t, b, memory, protocol.DeliverInput{Outbox: result.Outbox})
		require.NoError(t, err)
		require.Len(t, memory.Posted(), 1)
	})

	t.Run("to a deleted chat leaves nothing to deliver", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("hello"))
		memory.Close("c1")
		result, err := b.complete(t, "m1", 1, "m1")
		require.NoError(t, err)
		require.Empty(t, result.Outbox)
	})

	t.Run("is made by EndTurn and Answer too", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t)
		ended, err := execute[protocol.EndTurnResult](t, b.agent.EndTurn, protocol.EndTurnInput{
			Session: session, Turn: "m1", Messages: []string{"m1"}, Ending: protocol.EndingFailed, Reason: "It failed.",
		})
		require.NoError(t, err)
		require.Empty(t, ended.Outbox)
		b.accept(t, "m2", "/help", true)
		answered, err := execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{
			Session: session, Message: "m2", Command: domain.CommandHelp,
		})
		require.NoError(t, err)
		require.Empty(t, answered.Outbox)
		require.Len(t, memory.Posted(), 2)
	})

	t.Run("is made by the first Complete of a turn or command that has ended", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Calls(llmtest.Call{ID: "1", Name: "list_dir", Arguments: `{"path":"."}`}), llmtest.Text("hello"))
		memory.Fail(3)
		_, err := b.complete(t, "m1", 1, "m1")
		require.NoError(t, err)
		_, err = b.complete(t, "m1", 2)
		require.NoError(t, err)
		for id, text := range map[string]string{"m2": "/help", "m3": "fail"} {
			b.accept(t, id, text, true)
		}
		_, err = execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{Session: session, Message: "m2", Command: domain.CommandHelp})
		require.NoError(t, err)
		_, err = execute[protocol.EndTurnResult](t, b.agent.EndTurn, protocol.EndTurnInput{
			Session: session, Turn: "m3", Messages: []string{"m3"}, Ending: protocol.EndingFailed, Reason: "It failed.",
		})
		require.NoError(t, err)
		require.Empty(t, memory.Posted())
		for i, id := range []string{"m1", "m2", "m3"} {
			result, err := b.complete(t, id, 1, id)
			require.NoError(t, err)
			require.True(t, result.Answered || result.Final)
			require.Empty(t, result.Calls)
			require.Empty(t, result.Outbox)
			require.Len(t, memory.Posted(), i+1)
		}
		require.Equal(t, 2, b.model.Count())
	})

	t.Run("is not repeated while a stopped turn's Complete makes it", func(t *testing.T) {
		t.Parallel()
		b, memory := setupPush(t, llmtest.Text("hello"))
		release := memory.Block()
		completed := make(chan error, 1)
		go func() {
			_, err := b.complete(t, "m1", 1, "m1")
			completed <- err
		}()
		require.NoError(t, memory.AwaitCalls(t.Context(), 1))
		time.AfterFunc(200*time.Millisecond, release)
		ended, err := execute[protocol.EndTurnResult](t, b.agent.EndTurn, protocol.EndTurnInput{
			Session: session, Turn: "m1", Ending: protocol.EndingStopped,
		})
		require.NoError(t, err)
		require.Empty(t, ended.Outbox)
		require.NoError(t, <-completed)
		require.Len(t, memory.Posted(), 1)
	})
}

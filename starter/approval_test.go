package starter_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// ask has the first message's turn wait for an answer to a question.
func (b *bundle) ask(t *testing.T) domain.Approval {
	t.Helper()
	m := b.accept(t, inbound("1", "do it")).Message
	b.begin(t, m, 1, m)
	_, _, err := b.store.SaveCompletion(t.Context(), store.Completion{
		Turn: m, Step: 1, Message: domain.Message{ToolCalls: []domain.ToolCall{{ID: "call", Name: "exec", Arguments: "{}"}}},
	})
	require.NoError(t, err)
	asked, _, err := b.store.AskApproval(t.Context(), domain.Approval{
		Call: domain.CallKey(m, 1, 0), Turn: m, WorkflowID: "w", Tool: "exec", Title: "ls", Arguments: "ls -l",
	}, time.Hour, "May I?")
	require.NoError(t, err)
	return asked
}

func TestAWordIsAnAnswerIfAQuestionIsOpen(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked := b.ask(t)
	elsewhere := inbound("9", "yes")
	elsewhere.Chat = "c2"
	for id, tt := range map[string]struct {
		msg  domain.Inbound
		want domain.Command
	}{
		"a word":               {inbound("2", "Yes."), domain.CommandApprove},
		"the other":            {inbound("3", "n"), domain.CommandDeny},
		"with the ID":          {inbound("4", "approve "+asked.ID), domain.CommandApprove},
		"with another ID":      {inbound("5", "approve document"), domain.CommandNone},
		"in another chat":      {elsewhere, domain.CommandNone},
		"a sentence":           {inbound("6", "yes, but use -f"), domain.CommandNone},
		"a command":            {inbound("7", "/deny"), domain.CommandDeny},
		"with a slash, and ID": {inbound("8", "/approve document"), domain.CommandApprove},
	} {
		stored, err := b.store.Inbound(t.Context(), b.accept(t, tt.msg).Message)
		require.NoError(t, err)
		require.Equal(t, tt.want, stored.Command, id)
	}

	_, err := b.store.DecideApproval(t.Context(), domain.Decision{Approval: asked.ID, Status: domain.ApprovalDenied, By: "test:ana", In: "x"})
	require.NoError(t, err)
	stored, err := b.store.Inbound(t.Context(), b.accept(t, inbound("10", "yes")).Message)
	require.NoError(t, err)
	require.Empty(t, stored.Command, "nothing waits any more")
	again := b.accept(t, inbound("2", "Yes."))
	require.True(t, again.Duplicate)
	stored, err = b.store.Inbound(t.Context(), again.Message)
	require.NoError(t, err)
	require.Equal(t, domain.CommandApprove, stored.Command, "delivered again, it is what it was")
}

func TestQuestionsAreShown(t *testing.T) {
	t.Parallel()
	b := setup(t)
	asked := b.ask(t)
	first := domain.MessageID("test", "", "1")
	state, err := b.Message(t.Context(), first)
	require.NoError(t, err)
	require.Equal(t, []domain.Approval{asked}, state.Approvals)

	behind := inbound("4", "and then?")
	behind.Queue = true
	state, err = b.Message(t.Context(), b.accept(t, behind).Message)
	require.NoError(t, err)
	require.Equal(t, domain.ReplyQueued, state.Status)
	require.Len(t, state.Approvals, 1, "who waits for their turn can answer")
	behind.PlatformID, behind.Push = "5", true
	state, err = b.Message(t.Context(), b.accept(t, behind).Message)
	require.NoError(t, err)
	require.Empty(t, state.Approvals, "the question was sent")

	seen, done := b.watch(t, first)
	answer := b.accept(t, inbound("2", "/approve")).Message
	_, err = b.store.DecideApproval(t.Context(), domain.Decision{Approval: asked.ID, Status: domain.ApprovalApproved, By: "test:ana", In: answer})
	require.NoError(t, err)
	_, _, err = b.store.Answer(t.Context(), store.AnswerInput{Session: "test:c1", Channel: "test", Message: answer, Reply: "Approved."})
	require.NoError(t, err)
	state, err = b.Message(t.Context(), answer)
	require.NoError(t, err)
	require.Equal(t, domain.ReplyDone, state.Status)

	b.answer(t, first, 2, "done")
	require.NoError(t, <-done)
	require.LessOrEqual(t, len(*seen), 2, "a question is told once")
	require.Equal(t, event.Event{Kind: event.Done}, (*seen)[len(*seen)-1])
}

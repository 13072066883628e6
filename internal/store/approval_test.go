package store_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// where is where the suite's messages come from.
var where = domain.Route{Channel: channel, Chat: "c1", Thread: "t1"}

// question is one about a call of step 1.
func question(turn string, index int) domain.Approval {
	return domain.Approval{
		Call: domain.CallKey(turn, 1, index), Turn: turn, WorkflowID: "session/" + session, Tool: "exec", Title: secret, ArgumentsHash: "hash",
	}
}

// ask asks about a call of turn m1.
func (b *bundle) ask(t *testing.T, index int) (domain.Approval, string) {
	t.Helper()
	asked, outbox, err := b.AskApproval(t.Context(), question("m1", index), time.Hour, secret)
	require.NoError(t, err)
	return asked, outbox
}

// asking begins turn m1, which asks for n calls.
func (b *bundle) asking(t *testing.T, n int) {
	t.Helper()
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	names := make([]string, n)
	for i := range names {
		names[i] = "exec"
	}
	b.complete(t, "m1", 1, names...)
}

func (b *bundle) waiting(t *testing.T, where domain.Route) []string {
	t.Helper()
	rows, err := b.WaitingApprovals(t.Context(), where)
	require.NoError(t, err)
	var calls []string
	for _, row := range rows {
		calls = append(calls, row.Call)
	}
	return calls
}

// approvals checks that a question is asked once and answered once.
func approvals(t *testing.T, b *bundle) {
	b.asking(t, 3)
	first, outbox := b.ask(t, 0)
	require.Equal(t, domain.ApprovalWaiting, first.Status)
	require.WithinDuration(t, time.Now().Add(time.Hour), first.ExpiresAt, time.Minute)
	again, same := b.ask(t, 0)
	require.Equal(t, first, again)
	require.Equal(t, outbox, same)
	b.ask(t, 1)
	b.ask(t, 2)
	out, err := b.Outbox(t.Context(), outbox)
	require.NoError(t, err)
	require.Equal(t, first.ID, out.Approval)
	require.Equal(t, where, domain.Route{Channel: out.Channel, Chat: out.Chat, Thread: out.Thread})
	require.Equal(t, []string{"m1.1.0", "m1.1.1", "m1.1.2"}, b.waiting(t, where))
	require.Len(t, b.waiting(t, domain.Route{}), 3)
	require.Empty(t, b.waiting(t, domain.Route{Channel: channel, Chat: "c1"}), "another thread")

	other := question("m1", 0)
	other.ArgumentsHash = "other"
	_, _, err = b.AskApproval(t.Context(), other, time.Hour, "?")
	require.ErrorIs(t, err, domain.ErrConflict)

	decided, err := b.DecideApproval(t.Context(), domain.Decision{
		Approval: first.ID, Status: domain.ApprovalApproved, By: "test:ana", From: "test c1", In: "in " + "test:ana",
	})
	require.NoError(t, err)
	require.Equal(t, domain.ApprovalApproved, decided.Status)
	require.Equal(t, "test:ana from test c1", decided.DecidedBy+" from "+decided.DecidedFrom)
	latest, err := b.Approvals(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, []string{"m1.1.2", "m1.1.1"}, []string{latest[0].Call, latest[1].Call})
	byCall, err := b.SessionApprovals(t.Context(), session)
	require.NoError(t, err)
	require.Len(t, byCall, 3)
	require.Equal(t, decided, byCall["m1.1.0"])
	late, err := b.DecideApproval(t.Context(), domain.Decision{Approval: first.ID, Status: domain.ApprovalDenied, By: "test:bob", In: "in " + "test:bob"})
	require.NoError(t, err)
	require.Equal(t, decided, late, "the first answer counts")
	asked, _ := b.ask(t, 0)
	require.Equal(t, decided, asked)
	found, err := b.ApprovalDecidedIn(t.Context(), "in test:ana")
	require.NoError(t, err)
	require.Equal(t, decided, found)
	_, err = b.ApprovalDecidedIn(t.Context(), "in test:bob")
	require.ErrorIs(t, err, domain.ErrNotFound)
	_, err = b.DecideApproval(t.Context(), domain.Decision{Approval: "nothing", Status: domain.ApprovalDenied, By: "test:bob", In: "in " + "test:bob"})
	require.ErrorIs(t, err, domain.ErrNotFound)

	_, err = b.EndTurn(t.Context(), store.End{Session: session, Channel: channel, Turn: "m1", Status: domain.TurnStopped, Reply: "Stopped.", Fill: "stopped"})
	require.NoError(t, err)
	require.Empty(t, b.waiting(t, where))
	unneeded, err := b.DroppedApprovals(t.Context(), "m1")
	require.NoError(t, err)
	require.ElementsMatch(t, []string{domain.ApprovalID("m1.1.1"), domain.ApprovalID("m1.1.2")}, []string{unneeded[0].ID, unneeded[1].ID})
	dropped, err := b.DecideApproval(t.Context(), domain.Decision{Approval: domain.ApprovalID("m1.1.1"), Status: domain.ApprovalApproved, By: "test:ana", In: "in " + "test:ana"})
	require.NoError(t, err)
	require.Equal(t, domain.ApprovalDropped, dropped.Status)
	_, _, err = b.AskApproval(t.Context(), question("m1", 1), time.Hour, "?")
	require.ErrorIs(t, err, store.ErrTurnEnded)
}

// approvalExpires checks that a question is not answered after its time.
func approvalExpires(t *testing.T, b *bundle) {
	b.asking(t, 2)
	_, _, err := b.AskApproval(t.Context(), question("m1", 0), -time.Second, "?")
	require.NoError(t, err)
	require.Empty(t, b.waiting(t, where))
	decided, err := b.DecideApproval(t.Context(), domain.Decision{Approval: domain.ApprovalID("m1.1.0"), Status: domain.ApprovalApproved, By: "test:ana", In: "in " + "test:ana"})
	require.NoError(t, err)
	require.Equal(t, domain.ApprovalExpired, decided.Status)
	require.Empty(t, decided.DecidedBy)

	_, _, err = b.AskApproval(t.Context(), question("m1", 1), -time.Second, "?")
	require.NoError(t, err)
	asked, _ := b.ask(t, 1)
	require.Equal(t, domain.ApprovalExpired, asked.Status, "asked again")
}

// approvalRace has many answer one question.
func approvalRace(t *testing.T, b *bundle) {
	b.asking(t, 1)
	asked, _ := b.ask(t, 0)
	var mine atomic.Int32
	all(8, func(i int) {
		by := "test:" + string(rune('a'+i))
		status := []domain.ApprovalStatus{domain.ApprovalApproved, domain.ApprovalDenied}[i%2]
		decided, err := b.DecideApproval(t.Context(), domain.Decision{Approval: asked.ID, Status: status, By: by, In: "in " + by})
		if err != nil {
			t.Error(err)
		}
		if decided.DecidedBy == by && decided.Status == status {
			mine.Add(1)
		}
	})
	require.EqualValues(t, 1, mine.Load())
}

// approvalOfSubagent checks that a subagent's question is asked where its parent's
// turn was, and goes with it.
func approvalOfSubagent(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	b.complete(t, "m1", 1, "spawn")
	child := b.spawn(t, "m1")
	q := question(child.ID, 0)
	asked, outbox, err := b.AskApproval(t.Context(), q, time.Hour, secret)
	require.NoError(t, err)
	require.NotEmpty(t, outbox)
	require.Equal(t, where, domain.Route{Channel: asked.Channel, Chat: asked.Chat, Thread: asked.Thread})
	require.Equal(t, "ana", asked.Sender)
}

// approvalRemoved checks that a removed session leaves nothing of its questions.
func approvalRemoved(t *testing.T, b *bundle) {
	b.asking(t, 1)
	_, outbox := b.ask(t, 0)
	_, err := b.SaveResult(t.Context(), resultOf("m1", 0, "ok"))
	require.NoError(t, err)
	b.complete(t, "m1", 2)
	b.deliver(t, outbox, "o1")
	b.remove(t, 10)
	for name, rows := range b.dump(t) {
		require.NotContains(t, rows, secret, name)
	}
}

// approvalIsNoReply checks that a question is not taken for what the turn says.
func approvalIsNoReply(t *testing.T, b *bundle) {
	b.asking(t, 1)
	_, outbox := b.ask(t, 0)
	b.deliver(t, outbox)
	_, reply := b.complete(t, "m1", 2)
	require.NotEmpty(t, reply)
}

package store_test

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func stop(turn string, messages ...string) store.End {
	return store.End{
		Session: session, Channel: channel, Turn: turn, Messages: messages, Status: domain.TurnStopped,
		Reply: "Stopped.", Fill: "not run: stopped", WorkflowID: "w1", RunID: "r1",
	}
}

func (b *bundle) end(t *testing.T, e store.End) domain.Turn {
	t.Helper()
	turn, err := b.EndTurn(t.Context(), e)
	require.NoError(t, err)
	return turn
}

func (b *bundle) transcript(t *testing.T) []domain.Message {
	t.Helper()
	rows, err := b.Transcript(t.Context(), session, -1, 0)
	require.NoError(t, err)
	return rows
}

func end(t *testing.T, b *bundle) {
	b.accept(t, "m1", "m2", "m3")
	b.begin(t, step("m1", 1, "m1"))
	b.complete(t, "m1", 1, "exec", "grep", "exec")
	_, err := b.SaveResult(t.Context(), resultOf("m1", 1, "found"))
	require.NoError(t, err)
	b.begin(t, step("m1", 2, "m2"))

	turn := b.end(t, stop("m1", "m2", "m3"))
	require.Equal(t, domain.TurnStopped, turn.Status)
	require.Equal(t, "Stopped.", turn.Reply)
	require.Equal(t, "o1", turn.Outbox)
	require.False(t, turn.EndedAt.IsZero())
	read, err := b.Turn(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, read, turn)

	rows := b.transcript(t)
	require.Equal(t, []string{
		"u: text of m1", "a: m1 says 1", "t: not run: stopped", "t: found", "t: not run: stopped",
		"u: text of m2", "u: text of m3", "a: Stopped.",
	}, contents(rows))
	requireValid(t, rows)
	require.True(t, rows[2].Filled)
	require.Equal(t, "exec", rows[2].Name)
	require.False(t, rows[3].Filled)
	in, err := b.Inbound(t.Context(), "m3")
	require.NoError(t, err)
	require.Equal(t, "m1", in.Turn)
}

func endAgain(t *testing.T, b *bundle) {
	b.accept(t, "m1", "m2")
	b.begin(t, step("m1", 1, "m1"))
	first := b.end(t, stop("m1", "m1"))
	rows := b.transcript(t)
	again := stop("m1", "m1", "m2")
	again.Status, again.Reply = domain.TurnFailed, "Failed."
	require.Equal(t, first, b.end(t, again))
	require.Equal(t, rows, b.transcript(t))
	in, err := b.Inbound(t.Context(), "m2")
	require.NoError(t, err)
	require.Empty(t, in.Turn, "an ended turn takes no more messages in")

	b.whole(t, "m3")
	ended := b.end(t, stop("m3"))
	require.Equal(t, domain.TurnDone, ended.Status)
}

func endUnbegun(t *testing.T, b *bundle) {
	b.accept(t, "m1", "m2")
	silent := stop("m1", "m1", "m2")
	silent.Silent = true
	turn := b.end(t, silent)
	require.Equal(t, domain.TurnStopped, turn.Status)
	require.Equal(t, "ana", turn.Sender)
	require.Empty(t, turn.Outbox)
	require.Equal(t, []string{"u: text of m1", "u: text of m2", "a: Stopped."}, contents(b.transcript(t)))
	require.Equal(t, turn, b.end(t, silent))
}

func endNothing(t *testing.T, b *bundle) {
	require.Empty(t, b.end(t, stop("m1")))
	b.accept(t, "m1", "m2")
	b.begin(t, step("m1", 1, "m1", "m2"))
	require.Empty(t, b.end(t, stop("m2", "m2")).ID)
	_, err := b.Turn(t.Context(), "m2")
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func zombies(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	b.begin(t, step("m1", 1, "m1"))
	completion, _ := b.complete(t, "m1", 1, "exec")
	intent := store.Intent{Turn: "m1", Call: "m1.1.0", Part: "a", Data: []byte("a")}
	_, _, err := b.Intend(t.Context(), intent)
	require.NoError(t, err)
	b.end(t, stop("m1"))
	rows := b.transcript(t)

	stored, outbox, err := b.SaveCompletion(t.Context(), completed("m1", 1))
	require.NoError(t, err, "what is stored is told")
	require.Equal(t, completion, stored)
	require.Equal(t, "o1", outbox)
	_, _, err = b.SaveCompletion(t.Context(), completed("m1", 3))
	require.ErrorIs(t, err, store.ErrTurnEnded)
	filled, err := b.SaveResult(t.Context(), resultOf("m1", 0, "late"))
	require.NoError(t, err)
	require.True(t, filled.Filled)
	_, err = b.SaveResult(t.Context(), resultOf("m1", 1, "late"))
	require.ErrorIs(t, err, store.ErrTurnEnded)
	data, fresh, err := b.Intend(t.Context(), intent)
	require.NoError(t, err)
	require.False(t, fresh)
	require.Equal(t, intent.Data, data)
	intent.Part = "b"
	_, _, err = b.Intend(t.Context(), intent)
	require.ErrorIs(t, err, store.ErrTurnEnded)
	require.Equal(t, rows, b.transcript(t))
}

// endRace lets all that may end a turn, and all that must not come after it, run
// at the same time.
func endRace(t *testing.T, b *bundle) {
	b.accept(t, "m1", "m2")
	b.begin(t, step("m1", 1, "m1"))
	b.complete(t, "m1", 1, "exec", "exec", "exec", "exec")
	var ended atomic.Int32
	all(16, func(i int) {
		var err error
		switch i % 4 {
		case 0:
			_, err = b.SaveResult(t.Context(), resultOf("m1", i/4, "ok"))
		case 1:
			_, err = b.EndTurn(t.Context(), stop("m1", "m2"))
		case 2:
			_, err = b.Begin(t.Context(), step("m1", 2, "m2"))
		case 3:
			var turn domain.Turn
			turn, err = b.EndTurn(t.Context(), stop("m1"))
			if turn.Status == domain.TurnStopped {
				ended.Add(1)
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
	require.EqualValues(t, 4, ended.Load())
	rows := b.transcript(t)
	requireValid(t, rows)
	require.Equal(t, domain.RoleAssistant, rows[len(rows)-1].Role)
}

func answer(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	in := store.AnswerInput{Session: session, Channel: channel, Message: "m1", Reply: "Help.", WorkflowID: "w1", RunID: "r1"}
	turn, fresh, err := b.Answer(t.Context(), in)
	require.NoError(t, err)
	require.True(t, fresh)
	require.Equal(t, domain.Turn{
		ID: "m1", Session: session, Status: domain.TurnDone, Sender: "ana", Reply: "Help.", Outbox: "o1",
		WorkflowID: "w1", RunID: "r1", StartedAt: turn.StartedAt, EndedAt: turn.EndedAt,
	}, turn)
	in.Reply = "Other."
	again, fresh, err := b.Answer(t.Context(), in)
	require.NoError(t, err)
	require.False(t, fresh)
	require.Equal(t, turn, again)
	require.Empty(t, b.transcript(t))
	out, err := b.ClaimOutbox(t.Context(), "o1")
	require.NoError(t, err)
	require.Equal(t, "Help.", out.Text)
	require.True(t, b.begin(t, step("m1", 1, "m1")).Turn.Status == domain.TurnDone)

	in.Message = "absent"
	_, _, err = b.Answer(t.Context(), in)
	require.ErrorIs(t, err, domain.ErrNotFound)
	b.accept(t, "m2")
	in.Message, in.Silent = "m2", true
	turn, _, err = b.Answer(t.Context(), in)
	require.NoError(t, err)
	require.Empty(t, turn.Outbox)
}

func reset(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	b.accept(t, "m2", "m3")
	for i := range 3 {
		_, fresh, err := b.Answer(t.Context(), store.AnswerInput{Session: session, Channel: channel, Message: "m2", Reply: "New.", Reset: true})
		require.NoError(t, err)
		require.Equal(t, i == 0, fresh)
	}
	found, err := b.Session(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, 1, found.Epoch)
	require.Empty(t, b.transcript(t))

	begun := b.begin(t, step("m3", 1, "m3"))
	require.Equal(t, 1, begun.Turn.Epoch)
	require.Equal(t, []string{"u: text of m3"}, contents(begun.History))
	require.Len(t, b.transcript(t), 1)
	old, err := b.Transcript(t.Context(), session, 0, 0)
	require.NoError(t, err)
	require.Equal(t, []string{"u: text of m1", "a: m1 says 1"}, contents(old))
}

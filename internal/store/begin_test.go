package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

func begin(t *testing.T, b *bundle) {
	b.accept(t, "m1", "m2")
	begun := b.begin(t, step("m1", 1, "m1", "m2"))
	require.False(t, begun.Answered)
	require.Nil(t, begun.Completion)
	require.Equal(t, domain.Turn{
		ID: "m1", Session: session, Status: domain.TurnRunning, Sender: "ana",
		WorkflowID: "w1", RunID: "r1", StartedAt: begun.Turn.StartedAt,
	}, begun.Turn)
	require.False(t, begun.Turn.StartedAt.IsZero())
	require.Equal(t, []string{"m1", "m2"}, ids(begun.Inbound))
	require.Equal(t, []string{"u: text of m1", "u: text of m2"}, contents(begun.History))
	second := begun.History[1]
	require.Equal(t, domain.Message{
		Turn: "m1", Step: 1, Index: 1, Role: "user", Content: "text of m2", Sender: "ana", Source: "m2", CreatedAt: second.CreatedAt,
	}, second)
}

func beginAgain(t *testing.T, b *bundle) {
	b.accept(t, "m1", "m2")
	first := b.begin(t, step("m1", 1, "m1"))
	require.Equal(t, first, b.begin(t, step("m1", 1, "m1")))
	require.Equal(t, first, b.begin(t, step("m1", 1)), "without messages it only reads")

	stored, _ := b.complete(t, "m1", 1, "exec")
	again := b.begin(t, step("m1", 1, "m1"))
	require.Equal(t, stored, *again.Completion)
	require.Len(t, again.History, 2)
	require.Nil(t, b.begin(t, step("m1", 2)).Completion)

	b.complete(t, "m1", 2)
	ended := b.begin(t, step("m1", 3, "m2"))
	require.Equal(t, domain.TurnDone, ended.Turn.Status)
	require.Equal(t, []string{"m1"}, ids(ended.Inbound), "an ended turn takes no more messages in")
}

func join(t *testing.T, b *bundle) {
	quiet := message("m1")
	quiet.Push = false
	_, _, err := b.Accept(t.Context(), quiet)
	require.NoError(t, err)
	b.accept(t, "m2", "m3")
	b.begin(t, step("m1", 1, "m1"))
	b.complete(t, "m1", 1, "exec")
	_, err = b.SaveResult(t.Context(), resultOf("m1", 0, "ok"))
	require.NoError(t, err)

	b.begin(t, step("m1", 2, "m2"))
	begun := b.begin(t, step("m1", 2, "m2", "m3"))
	require.Equal(t, []string{"m1", "m2", "m3"}, ids(begun.Inbound))
	require.Equal(t, []string{"u: text of m1", "a: m1 says 1", "t: ok", "u: text of m2", "u: text of m3"}, contents(begun.History))
	require.Equal(t, 1, begun.History[4].Index)
	require.Equal(t, begun, b.begin(t, step("m1", 2)))

	stored, outbox := b.complete(t, "m1", 2)
	require.Equal(t, 2, stored.Step)
	require.Equal(t, "o1", outbox, "a message that joined wants delivery")
}

func answered(t *testing.T, b *bundle) {
	b.accept(t, "m1", "m2", "m3")
	b.begin(t, step("m1", 1, "m1", "m2"))
	b.complete(t, "m1", 1)

	begun := b.begin(t, step("m2", 1, "m2"))
	require.True(t, begun.Answered)
	require.Equal(t, "m1", begun.Turn.ID)
	require.Equal(t, "o1", begun.Turn.Outbox)
	_, err := b.Turn(t.Context(), "m2")
	require.ErrorIs(t, err, domain.ErrNotFound)

	begun = b.begin(t, step("m2", 1, "m2", "m3"))
	require.False(t, begun.Answered)
	require.Equal(t, "m2", begun.Turn.ID)
	require.Equal(t, []string{"m3"}, ids(begun.Inbound))
}

func beginMissing(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	_, err := b.Begin(t.Context(), step("m1", 1, "m1", "absent"))
	require.ErrorIs(t, err, domain.ErrNotFound)
	in, err := b.Inbound(t.Context(), "m1")
	require.NoError(t, err)
	require.Empty(t, in.Turn, "a call that failed leaves nothing behind")
	_, err = b.Begin(t.Context(), step("m1", 2))
	require.ErrorIs(t, err, domain.ErrNotFound)
}

// tooled runs a turn of one message and one tool round: four rows.
func (b *bundle) tooled(t *testing.T, id string) {
	t.Helper()
	b.accept(t, id)
	b.begin(t, step(id, 1, id))
	b.complete(t, id, 1, "exec")
	_, err := b.SaveResult(t.Context(), resultOf(id, 0, "ok"))
	require.NoError(t, err)
	b.complete(t, id, 2)
}

func window(t *testing.T, b *bundle) {
	b.tooled(t, "m1")
	b.tooled(t, "m2")
	b.accept(t, "m3")
	tests := []struct{ window, first, rows int }{
		{0, 0, 0}, {1, 2, 2}, {3, 2, 2}, {4, 2, 4}, {5, 2, 4}, {7, 2, 4}, {8, 1, 8}, {100, 1, 8},
	}
	for _, tt := range tests {
		in := step("m3", 1, "m3")
		in.Window = tt.window
		history := b.begin(t, in).History
		require.Len(t, history, tt.rows+1, "window %d", tt.window)
		requireValid(t, history)
		if tt.rows > 0 {
			require.Equal(t, "m"+string(rune('0'+tt.first)), history[0].Turn)
			require.EqualValues(t, "user", history[0].Role)
		}
		require.Equal(t, "m3", history[tt.rows].Turn)
		if tt.rows == 2 { // the turn before is longer than the window
			require.Equal(t, []string{"u: text of m2", "a: m2 says 2", "u: text of m3"}, contents(history))
		}
	}
}

func order(t *testing.T, b *bundle) {
	b.accept(t, "m9", "m5", "m1")
	b.begin(t, step("m9", 1, "m9"))
	b.complete(t, "m9", 1, "a", "b", "c")
	for _, index := range []int{2, 0, 1} {
		_, err := b.SaveResult(t.Context(), resultOf("m9", index, string(rune('a'+index))))
		require.NoError(t, err)
	}
	b.begin(t, step("m9", 2, "m5"))
	b.complete(t, "m9", 2)
	want := []string{"u: text of m9", "a: m9 says 1", "t: a", "t: b", "t: c", "u: text of m5", "a: m9 says 2"}
	begun := b.begin(t, step("m1", 1, "m1"))
	require.Equal(t, append(want, "u: text of m1"), contents(begun.History))

	other := message("x1")
	other.Session = "test:c2"
	_, _, err := b.Accept(t.Context(), other)
	require.NoError(t, err)
	in := step("x1", 1, "x1")
	in.Session = other.Session
	require.Len(t, b.begin(t, in).History, 1, "sessions do not see each other")
	b.accept(t, "m2")
	require.Len(t, b.begin(t, step("m2", 1, "m2")).History, len(want)+1, "a running turn is nobody else's history")
}

// beginPanics checks that a panic during a transaction undoes it and releases its
// connection.
func beginPanics(t *testing.T, b *bundle) {
	b.accept(t, "m1")
	in := step("m1", 1, "m1")
	in.Scope = func(domain.Inbound) string { panic("scope") }
	for range 20 { // more than there are connections
		require.PanicsWithValue(t, "scope", func() { _, _ = b.Begin(t.Context(), in) })
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, _, err := b.Accept(ctx, message("m2"))
	require.NoError(t, err)
	_, err = b.Turn(ctx, "m1")
	require.ErrorIs(t, err, domain.ErrNotFound)
	b.begin(t, step("m1", 1, "m1"))
}

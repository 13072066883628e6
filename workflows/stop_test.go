package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

var stop = cmd("s1", domain.CommandStop)

func TestStop(t *testing.T) {
	t.Parallel()

	t.Run("it ends the turn, what joined it and what was about to", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(look(func() { b.send(msg("m2")) }), hang(func() { b.send(msg("m3"), alone("m4"), stop) }), say("four"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"m1 in m1", "m2 in m1", "m3 in m3", "m4 in m4"}, b.consumed("m1", "m2", "m3", "m4"))
		require.ElementsMatch(t, []string{"Stopped.", "four"}, b.posted())
		require.Equal(t, domain.TurnStopped, b.turn("m1").Status)
		require.Equal(t, domain.TurnStopped, b.turn("m3").Status)
	})

	t.Run("it ends all messages that were about to join", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		burst := many(250)
		b.script(hang(func() { b.send(append(burst, stop)...) }), say("unused"))
		require.NoError(t, b.run(msg("m1")))
		for _, m := range burst {
			inbound, err := b.store.Inbound(t.Context(), m.ID)
			require.NoError(t, err)
			require.NotEmpty(t, inbound.Turn)
		}
		require.Equal(t, 1, b.model.Count())
		require.Equal(t, []string{"Stopped."}, b.posted())
	})

	t.Run("the message after it is answered, even if both come at once", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(hang(func() { b.send(stop, msg("m2")) }), say("two"))
		require.NoError(t, b.run(msg("m1")))
		require.ElementsMatch(t, []string{"Stopped.", "two"}, b.posted())
		require.Equal(t, domain.TurnDone, b.turn("m2").Status)
	})

	t.Run("it ends a message that no turn has begun with", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(say("three"))
		require.NoError(t, b.run(msg("m1"), msg("m2"), stop, msg("m3")))
		require.Equal(t, domain.TurnStopped, b.turn("m1").Status)
		require.Equal(t, domain.TurnStopped, b.turn("m2").Status)
		require.ElementsMatch(t, []string{"Stopped.", "three"}, b.posted())
	})

	t.Run("a second one changes nothing", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(hang(func() { b.send(stop, msg("m2"), cmd("s2", domain.CommandStop), msg("m3")) }), say("three"))
		require.NoError(t, b.run(msg("m1")))
		require.ElementsMatch(t, []string{"Stopped.", "Stopped.", "three"}, b.posted())
		require.Equal(t, domain.TurnStopped, b.turn("m2").Status, "it came before the second")
		require.Equal(t, domain.TurnDone, b.turn("m3").Status)
	})

	t.Run("while nothing runs it says so", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(say("unused"))
		require.NoError(t, b.run(stop))
		require.Equal(t, []string{"Nothing is running."}, b.posted())
	})

	t.Run("a stop during EndTurn does not interrupt it", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script() // the first request is refused for good
		b.env.SetOnActivityStartedListener(onStarted(protocol.EndTurnActivity, func() { b.send(msg("m2"), stop) }))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, domain.TurnFailed, b.turn("m1").Status)
		require.Equal(t, domain.TurnStopped, b.turn("m2").Status)
		require.Contains(t, b.posted(), b.turn("m1").Reply)
		require.Contains(t, b.posted(), "Stopped.")
	})

	t.Run("between turns it ends the messages that the queue is being refilled with", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		burst, other, after := many(queueLimit+1), bobs("other"), msg("after")
		b.script(hang(func() { b.send(append(burst, stop, other)...) }), say("after"))
		b.env.SetOnActivityStartedListener(onStarted(protocol.RefillActivity, func() { b.send(cmd("s2", domain.CommandStop), after) }))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, domain.TurnStopped, b.turn("other").Status)
		require.Equal(t, []string{"Stopped.", "Stopped.", "after"}, b.posted())
	})

	t.Run("a turn that ended before the stop stays ended", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(say("one", func() { b.accept(stop) }))
		// The workflow learns of both at once.
		b.env.SetOnActivityStartedListener(onStarted(protocol.CompleteActivity, func() {
			b.env.SignalWorkflowSkippingWorkflowTask(protocol.MessageSignal, stop)
		}))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, domain.TurnDone, b.turn("m1").Status)
		require.Contains(t, b.posted(), "one")
		require.Contains(t, b.posted(), "Nothing is running.")
	})

	t.Run("between tool calls it leaves a transcript with a result for each", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(use([]string{"poke", "poke", "poke"}), say("two"))
		b.env.SetOnActivityStartedListener(onStarted(protocol.CallToolActivity, func() { b.send(stop) }))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, domain.TurnStopped, b.turn("m1").Status)
		b.reopen()
		require.NoError(t, b.run(msg("m2")), "the model's server accepts the transcript")
		require.Equal(t, "two", b.turn("m2").Reply)
	})
}

func TestCancellation(t *testing.T) {
	t.Parallel()

	t.Run("it ends the turn and all that waits, whoever sent it", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(hang(func() {
			b.send(msg("m2"), bobs("m3"), alone("m4"), cmd("c1", domain.CommandNew))
			b.env.CancelWorkflow()
		}))
		requireCancelled(t, b.run(msg("m1")))
		for _, id := range []string{"m1", "m2", "m3", "m4"} {
			require.Equal(t, domain.TurnStopped, b.turn(id).Status, id)
		}
		require.Equal(t, "New conversation.", b.turn("c1").Reply)
		require.Equal(t, 1, b.model.Count())
	})

	t.Run("it ends a turn that was carried over", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(look(b.suggest))
		b.env.SetOnActivityStartedListener(onStarted(protocol.CallToolActivity, b.env.CancelWorkflow))
		requireCancelled(t, b.resume(turnAt(b, 1)))
		require.Equal(t, domain.TurnStopped, b.turn("m1").Status)
		require.Equal(t, []string{"Stopped."}, b.posted())
	})

	t.Run("a command is answered", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script()
		b.env.SetOnActivityStartedListener(onStarted(protocol.AnswerActivity, b.env.CancelWorkflow))
		requireCancelled(t, b.run(cmd("c1", domain.CommandStatus)))
		require.Equal(t, []string{"Nothing is running."}, b.posted())
	})
}

func requireCancelled(t *testing.T, err error) {
	t.Helper()
	var cancelled *temporal.CanceledError
	require.ErrorAs(t, err, &cancelled)
}

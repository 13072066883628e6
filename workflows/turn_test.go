package workflows_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// stateLimit bounds, in bytes, what continue-as-new carries.
	stateLimit = 64 << 10
	// queueLimit bounds the messages that wait in a session.
	queueLimit = 500
)

func TestTurn(t *testing.T) {
	t.Parallel()

	t.Run("calls that change nothing run side by side, others in order", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(use([]string{"look", "look"}), use([]string{"poke", "look"}), say("done"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"done"}, b.posted())
		require.Equal(t, []string{"done: look", "done: look"}, b.model.Requests()[1].Results())
		require.Equal(t, []string{"done: poke", "done: look"}, b.model.Requests()[2].Results())
	})

	t.Run("a non-retryable error is answered with a sentence, and the next message works", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(step(llmtest.Refuse(401, "invalid_api_key", "no such key")), say("two"))
		require.NoError(t, b.run(alone("m1"), alone("m2")))
		require.Equal(t, domain.TurnFailed, b.turn("m1").Status)
		require.Contains(t, b.turn("m1").Reply, "Check the API key")
		require.Equal(t, []string{b.turn("m1").Reply, "two"}, b.posted())
	})

	t.Run("messages that joined a failing turn fail with it", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(look(func() { b.send(msg("m2")) }))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"m2 in m1"}, b.consumed("m2"))
		require.Equal(t, domain.TurnFailed, b.turn("m1").Status)
		require.Len(t, b.posted(), 1)
	})

	t.Run("a permanent failure of a tool call is reported to the model", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(use([]string{"poke", "poke"}), say("done"))
		b.env.OnActivity(protocol.CallToolActivity, mock.Anything, mock.MatchedBy(func(in protocol.CallToolInput) bool { return in.Index == 0 })).
			Return(protocol.CallToolResult{}, temporal.NewNonRetryableApplicationError("lost", "Lost", nil))
		require.NoError(t, b.run(msg("m1")))
		results := b.model.Requests()[1].Results()
		require.Contains(t, results[0], "outcome is unknown")
		require.Len(t, results, 2)
		require.Equal(t, []string{"done"}, b.posted())
	})

	t.Run("the limit of steps ends the turn with a sentence, and the next message works", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.limits.Steps = 2
		b.script(look(), look(), say("two"))
		require.NoError(t, b.run(alone("m1"), alone("m2")))
		require.Equal(t, "I reached the limit of 2 model calls for one request without completing it. Ask me to continue, or raise agent.max_iterations.", b.posted()[0])
		require.Equal(t, "two", b.posted()[1])
		require.Equal(t, domain.TurnFailed, b.turn("m1").Status)
	})
}

// turnAt is a session that was carried over in the middle of the turn of m1.
func turnAt(b *bench, step int) protocol.SessionInput {
	b.accept(msg("m1"))
	return protocol.SessionInput{
		Session: ref, Model: "scripted/model", Limits: b.limits,
		State: protocol.SessionState{
			Turn:   &protocol.TurnState{ID: "m1", Sender: "ana", Joinable: true, Step: step, Messages: []string{"m1"}},
			Recent: []string{"m1"},
		},
	}
}

func TestContinueAsNew(t *testing.T) {
	t.Parallel()

	t.Run("in the middle of a turn it continues where it stopped", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(
			step(llmtest.Calls(llmtest.Call{Name: "look", Arguments: "{}"}).Usage(10, 5), func() { b.suggest(); b.send(msg("m2"), bobs("m3")) }),
			look(func() { b.send(msg("m4")) }), say("one"), say("three"), say("four"))
		input := b.continued(b.run(msg("m1")))
		require.Equal(t, protocol.SessionInput{
			Session: ref, Model: "scripted/model", Limits: b.limits,
			State: protocol.SessionState{
				Queue:  []protocol.MessageRef{msg("m2"), bobs("m3")},
				Seq:    3,
				Turn:   &protocol.TurnState{ID: "m1", Sender: "ana", Joinable: true, Step: 2, Tokens: 15, Unpriced: 1},
				Recent: []string{"m1", "m2", "m3"},
			},
		}, input)

		b.reopen()
		require.NoError(t, b.resume(input, msg("m1"), msg("m3")), "redelivered")
		require.Equal(t, []string{"m2 in m1", "m3 in m3", "m4 in m4"}, b.consumed("m2", "m3", "m4"))
		require.Equal(t, []string{"one", "three", "four"}, b.posted())
		require.Equal(t, []string{"Complete m1 1", "Complete m1 2", "Complete m1 3", "Complete m3 1", "Complete m4 1"}, b.started(protocol.CompleteActivity))
		require.Equal(t, 5, b.model.Count())
	})

	t.Run("between turns it carries what waits, without previews", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(say("one"), say("two"))
		b.env.SetOnActivityStartedListener(onStarted(protocol.CompleteActivity, b.suggest))
		second := alone("m2")
		second.Preview = "what it says"
		input := b.continued(b.run(alone("m1"), second))
		require.Equal(t, []protocol.MessageRef{alone("m2")}, input.State.Queue)
		require.Nil(t, input.State.Turn)
		require.Equal(t, 1, input.State.Turns)
		b.reopen()
		require.NoError(t, b.resume(input))
		require.Equal(t, []string{"one", "two"}, b.posted())
	})

	t.Run("a session with nothing to do completes instead", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(say("one", b.suggest))
		require.NoError(t, b.run(msg("m1")))
	})

	replies := map[domain.Command]string{domain.CommandStop: "Stopped.", domain.CommandNew: "New conversation."}
	for command, reply := range replies {
		t.Run("/"+string(command)+" that comes at that moment is not lost", func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.script(look(b.suggest), say("two"))
			// It is there, and not yet read, when the step is done.
			b.env.SetOnActivityStartedListener(onStarted(protocol.CallToolActivity, func() {
				b.accept(cmd("c1", command))
				b.env.SignalWorkflowSkippingWorkflowTask(protocol.MessageSignal, cmd("c1", command))
			}))
			err := b.run(msg("m1"))
			if err != nil { // /new is still to be done
				input := b.continued(err)
				b.reopen()
				err = b.resume(input)
			}
			require.NoError(t, err)
			require.Equal(t, domain.TurnStopped, b.turn("m1").Status)
			require.Equal(t, 1, b.model.Count())
			require.Equal(t, []string{reply}, b.posted())
		})

		t.Run("/"+string(command)+" that comes with the new run ends the turn, and not what comes after", func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.script(say("two"))
			require.NoError(t, b.resume(turnAt(b, 1), cmd("c1", command), msg("m2")))
			require.Equal(t, domain.TurnStopped, b.turn("m1").Status)
			require.ElementsMatch(t, []string{reply, "two"}, b.posted())
			require.Equal(t, "two", b.turn("m2").Reply)
		})
	}

	t.Run("a session moves to another build between two turns, once it has worked", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		moves := func() {
			b.env.RegisterDelayedCallback(func() { b.env.SetTargetWorkerDeploymentVersionChanged(true) }, 0)
		}
		b.script(look(moves), say("one"), say("two", moves), say("three"))
		input := b.continued(b.run(alone("m1"), alone("m2"), alone("m3")))
		require.Equal(t, []protocol.MessageRef{alone("m2"), alone("m3")}, input.State.Queue)
		b.reopen()
		input = b.continued(b.resume(input))
		require.Equal(t, []protocol.MessageRef{alone("m3")}, input.State.Queue)
		b.reopen()
		require.NoError(t, b.resume(input))
		require.Equal(t, []string{"one", "two", "three"}, b.posted())
	})

	t.Run("the next run delivers the replies that wait", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		release := b.channel.Block()
		b.script(say("one", b.suggest), say("two"), say("three", release), say("four"))
		input := b.continued(b.run(alone("m1"), alone("m2")))
		require.Equal(t, []string{"o1"}, input.State.Undelivered)
		require.Empty(t, b.posted())
		b.reopen()
		require.NoError(t, b.resume(input, alone("m3"), alone("m4")))
		require.Equal(t, []string{"one", "two", "three", "four"}, b.posted())
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()

	t.Run("the carried state stays small with a long queue", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		burst := many(queueLimit + 1)
		for i := range burst {
			burst[i].Sender, burst[i].Preview = strings.Repeat("x", 36), strings.Repeat("y", 120)
		}
		b.script(look(b.suggest, func() { b.send(burst...) }))
		input := b.continued(b.run(msg("m1")))
		encoded, err := json.Marshal(input)
		require.NoError(t, err)
		t.Logf("%d bytes carried, %d messages, %d recent", len(encoded), len(input.State.Queue), len(input.State.Recent))
		require.Less(t, len(encoded), stateLimit)
		// The first ones are there, in order; the sweeper brings the others.
		require.Equal(t, idsOf(burst)[:len(input.State.Queue)], idsOf(input.State.Queue))
		require.Len(t, input.State.Queue, queueLimit)
		for _, m := range input.State.Queue {
			require.Contains(t, input.State.Recent, m.ID)
		}
	})

	t.Run("a message beyond the limit is accepted when redelivered", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		burst := many(queueLimit + 1)
		last := burst[queueLimit]
		b.script(
			look(func() { b.send(burst...) }),
			look(func() { b.send(last) }),
			look(), look(), look(), look(), say("all"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, append([]string{"m1"}, idsOf(burst)...), b.users())
		require.Equal(t, []string{"all"}, b.posted())
	})

	t.Run("messages that the queue had no room for are answered in order", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		burst, late := many(700), msg("late")
		b.script(
			look(func() { b.send(burst...) }),
			look(), look(func() { b.send(late) }), // the queue has room again, but others wait in the store
			look(), look(), look(), look(), look(), say("all"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, slices.Concat([]string{"m1"}, idsOf(burst), []string{"late"}), b.users())
		require.Equal(t, []string{"all"}, b.posted())
		require.Len(t, b.started(protocol.RefillActivity), 3)
	})

	t.Run("a stop ends the messages that would have joined, and no others", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		burst, other, after := many(queueLimit+1), bobs("other"), msg("after")
		b.script(hang(func() { b.send(append(burst, stop, other, after)...) }), say("bob's"), say("ana's"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, domain.TurnStopped, b.turn(burst[queueLimit].ID).Status)
		require.Equal(t, []string{"Stopped.", "bob's", "ana's"}, b.posted())
	})

	t.Run("a command is accepted with a full queue", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(hang(func() { b.send(append(many(queueLimit+1), stop)...) }))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, domain.TurnStopped, b.turn("m1").Status)
		require.Equal(t, []string{"Stopped."}, b.posted())
	})

	t.Run("old IDs are forgotten in memory but kept in the store", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		burst := many(300)
		b.script(look(func() { b.send(burst...) }), look(), look(), look(func() { b.send(burst[0], msg("m1"), bobs("m2")) }), say("all"), say("two"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, slices.Concat([]string{"m1"}, idsOf(burst), []string{"m2"}), b.users())
		require.Equal(t, []string{"all", "two"}, b.posted())
	})
}

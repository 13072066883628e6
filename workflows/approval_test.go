package workflows_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

func TestApproval(t *testing.T) {
	t.Parallel()
	approve, deny := cmd("c1", domain.CommandApprove), cmd("c1", domain.CommandDeny)

	// asking is a session with a rule and a script, in which something is done when
	// the first question was asked.
	asking := func(t *testing.T, rule string, then func(b *bench), script ...func() llmtest.Step) *bench {
		t.Helper()
		b := setup(t)
		b.rules = []string{rule}
		b.script(script...)
		b.env.SetOnActivityCompletedListener(onCompleted(protocol.DeliverActivity, sync.OnceFunc(func() { then(b) })))
		return b
	}
	poke := use([]string{"poke"})
	t.Run("a call waits until it is approved", func(t *testing.T) {
		t.Parallel()
		b := asking(t, "ask poke", func(b *bench) { b.send(approve) }, poke, say("done"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"done: poke"}, b.model.Requests()[1].Results())
		require.Equal(t, []string{"May I run `poke`?\n\n```\n{}\n```", "Approved. `poke`: {}", "done"}, b.posted())
		require.Equal(t, []string{"CallTool m1 1", "CallTool m1 1"}, b.started(protocol.CallToolActivity))
	})

	t.Run("what is denied is told to the model", func(t *testing.T) {
		t.Parallel()
		b := asking(t, "ask poke", func(b *bench) { b.send(deny) }, poke, say("done"))
		require.NoError(t, b.run(msg("m1")))
		require.Contains(t, b.model.Requests()[1].Results()[0], "a person denied it")
		require.Contains(t, b.posted(), "done")
	})

	t.Run("of two answers the first counts", func(t *testing.T) {
		t.Parallel()
		second := cmd("c2", domain.CommandApprove)
		b := asking(t, "ask poke", func(b *bench) { b.send(deny, second) }, poke, say("done"))
		b.env.SetOnActivityStartedListener(func(info *activity.Info, _ context.Context, args converter.EncodedValues) {
			var in protocol.AnswerInput
			if info.ActivityType.Name != protocol.AnswerActivity || args.Get(&in) != nil || in.Message != second.ID {
				return
			}
			if _, err := b.store.Turn(context.Background(), deny.ID); err != nil {
				t.Errorf("the first is not answered yet: %v", err)
			}
		})
		require.NoError(t, b.run(msg("m1")))
		require.Contains(t, b.model.Requests()[1].Results()[0], "a person denied it")
		require.Contains(t, b.posted(), "Nothing is waiting for approval here.")
	})

	t.Run("it continues when no one answers", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.rules, b.timeout = []string{"ask poke"}, -time.Second // the store's clock is not the workflow's
		b.script(poke, say("done"))
		require.NoError(t, b.run(msg("m1")))
		require.Contains(t, b.model.Requests()[1].Results()[0], "no one answered in time")
	})

	t.Run("what the user writes instead is read at once", func(t *testing.T) {
		t.Parallel()
		b := asking(t, "ask poke", func(b *bench) { b.send(msg("m2")) }, poke, say("done"))
		require.NoError(t, b.run(msg("m1")))
		messages := b.model.Requests()[1].Messages
		require.Contains(t, messages[len(messages)-2].Content.Text, "the user wrote something else")
		require.Equal(t, []string{"m2 in m1"}, b.consumed("m2"))
	})

	t.Run("what others write waits for the answer", func(t *testing.T) {
		t.Parallel()
		b := asking(t, "ask poke", func(b *bench) { b.send(bobs("m2"), approve) }, poke, say("done"), say("bob's"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"done: poke"}, b.model.Requests()[1].Results())
		require.Equal(t, []string{"m2 in m2"}, b.consumed("m2"))
	})

	t.Run("it can be stopped", func(t *testing.T) {
		t.Parallel()
		b := asking(t, "ask poke", func(b *bench) { b.send(cmd("c1", domain.CommandStop)) }, poke, say("done"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, domain.TurnStopped, b.turn("m1").Status)
		waiting, err := b.store.WaitingApprovals(t.Context(), domain.Route{})
		require.NoError(t, err)
		require.Empty(t, waiting)
		require.Equal(t, 1, b.model.Count())
	})

	t.Run("an answer from elsewhere does not wait for a channel that is away", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.rules = []string{"ask poke"}
		release := b.channel.Block()
		b.script(poke, say("done", release))
		b.env.SetOnActivityStartedListener(onStarted(protocol.DeliverActivity, func() { b.decide(b.waiting()[0], domain.ApprovalApproved) }))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"done: poke"}, b.model.Requests()[1].Results())
		require.Contains(t, b.posted(), "done")
	})

	// aside is a session in which two calls run side by side and need approval. Once both
	// questions are posted, then gets their IDs, in the order of the calls.
	aside := func(t *testing.T, then func(b *bench, asked []string)) *bench {
		t.Helper()
		b := setup(t)
		b.rules = []string{"ask look"}
		b.script(use([]string{"look", "look"}), say("done"))
		b.env.SetOnActivityCompletedListener(onCompleted(protocol.DeliverActivity, after(2, func() {
			then(b, []string{domain.ApprovalID("m1.1.0"), domain.ApprovalID("m1.1.1")})
		})))
		return b
	}

	t.Run("calls that run side by side are asked about at once, and answered in any order", func(t *testing.T) {
		t.Parallel()
		b := aside(t, func(b *bench, asked []string) {
			b.decide(asked[1], domain.ApprovalDenied)
			b.env.SetOnActivityCompletedListener(onCompleted(protocol.CallToolActivity, sync.OnceFunc(func() {
				if left := b.waiting(); len(left) != 1 || left[0] != asked[0] {
					t.Errorf("waiting: %v", left)
				}
				b.decide(asked[0], domain.ApprovalApproved)
			})))
		})
		require.NoError(t, b.run(msg("m1")))
		results := b.model.Requests()[1].Results()
		require.Equal(t, "done: look", results[0])
		require.Contains(t, results[1], "a person denied it")
		require.Len(t, b.started(protocol.CallToolActivity), 4)
		require.Len(t, b.posted(), 3)
	})

	t.Run("two answers at once both count", func(t *testing.T) {
		t.Parallel()
		b := aside(t, func(b *bench, asked []string) {
			b.decide(asked[1], domain.ApprovalApproved)
			b.decide(asked[0], domain.ApprovalApproved)
		})
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"done: look", "done: look"}, b.model.Requests()[1].Results())
	})

	t.Run("what the user writes instead withdraws all questions", func(t *testing.T) {
		t.Parallel()
		b := aside(t, func(b *bench, _ []string) { b.send(msg("m2")) })
		require.NoError(t, b.run(msg("m1")))
		for _, result := range b.model.Requests()[1].Results() {
			require.Contains(t, result, "the user wrote something else")
		}
	})

	t.Run("an answer counts that comes before the workflow knows of the question", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.rules = []string{"ask poke"}
		b.script(poke, say("done"))
		b.env.OnActivity(protocol.CallToolActivity, mock.Anything, mock.Anything).Return(
			func(ctx context.Context, in protocol.CallToolInput) (protocol.CallToolResult, error) {
				result, err := b.agent.CallTool(ctx, in)
				if result.Approval != nil {
					b.decide(result.Approval.ID, domain.ApprovalApproved)
				}
				return result, err
			})
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"done: poke"}, b.model.Requests()[1].Results())
	})

	t.Run("a signal without a decision changes nothing", func(t *testing.T) {
		t.Parallel()
		b := asking(t, "ask poke", func(b *bench) {
			asked := b.waiting()[0]
			b.env.SignalWorkflow(protocol.ApprovalSignal, protocol.ApprovalDecision{Approval: asked})
			b.env.SetOnActivityCompletedListener(onCompleted(protocol.CallToolActivity, sync.OnceFunc(func() { b.decide(asked, domain.ApprovalApproved) })))
		}, poke, say("done"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"done: poke"}, b.model.Requests()[1].Results())
		require.Len(t, b.started(protocol.CallToolActivity), 3)
	})

	t.Run("the session continues as new while calls wait", func(t *testing.T) {
		t.Parallel()
		b := aside(t, func(b *bench, asked []string) {
			b.send(bobs("m2"))
			b.decide(asked[0], domain.ApprovalApproved)
			b.env.SetOnActivityCompletedListener(onCompleted(protocol.CallToolActivity, func() { b.env.SetContinueAsNewSuggested(true) }))
		})
		input := b.continued(b.run(msg("m1")))
		require.Equal(t, 1, input.State.Turn.Step)
		require.Len(t, input.State.Turn.Calls, 1, "the other has its result")
		require.Equal(t, []protocol.MessageRef{bobs("m2")}, input.State.Queue)
		asked := b.waiting()
		require.Len(t, asked, 1, "the question stays open")
		_, err := b.store.DecideApproval(t.Context(), domain.Decision{Approval: asked[0], Status: domain.ApprovalApproved})
		require.NoError(t, err)

		b.reopen()
		require.NoError(t, b.resume(input))
		require.Equal(t, []string{"done: look", "done: look"}, b.model.Requests()[1].Results())
		require.Equal(t, 3, b.model.Count(), "no model call is made twice")
		require.Len(t, b.posted(), 4, "two questions, each posted once, and two answers")
	})
}

// waiting lists the open questions, oldest first.
func (b *bench) waiting() (ids []string) {
	waiting, err := b.store.WaitingApprovals(context.Background(), domain.Route{})
	if err != nil {
		b.t.Errorf("waiting: %v", err)
	}
	for _, asked := range waiting {
		ids = append(ids, asked.ID)
	}
	return ids
}

// decide answers a question from elsewhere.
func (b *bench) decide(approval string, status domain.ApprovalStatus) {
	_, err := b.store.DecideApproval(context.Background(), domain.Decision{Approval: approval, Status: status, By: "http:root", In: "c2"})
	if err != nil {
		b.t.Error(err)
	}
	b.env.SignalWorkflow(protocol.ApprovalSignal, protocol.ApprovalDecision{Approval: approval})
}

// after does something at the nth call.
func after(n int32, do func()) func() {
	var calls atomic.Int32
	return func() {
		if calls.Add(1) == n {
			do()
		}
	}
}

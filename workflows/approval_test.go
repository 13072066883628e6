package workflows_test

import (
	"context"
	"sync"
	"testing"
	"time"

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
	// decide answers the oldest question from elsewhere.
	decide := func(b *bench) {
		waiting, err := b.store.WaitingApprovals(context.Background(), domain.Route{})
		if err != nil || len(waiting) == 0 {
			b.t.Errorf("waiting: %v, %v", waiting, err)
			return
		}
		if _, err = b.store.DecideApproval(context.Background(), domain.Decision{Approval: waiting[0].ID, Status: domain.ApprovalApproved, By: "http:root", In: "c2"}); err != nil {
			b.t.Error(err)
		}
		b.env.SignalWorkflow(protocol.ApprovalSignal, protocol.ApprovalDecision{Approval: waiting[0].ID})
	}

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
		b.env.SetOnActivityStartedListener(onStarted(protocol.DeliverActivity, func() { decide(b) }))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"done: poke"}, b.model.Requests()[1].Results())
		require.Contains(t, b.posted(), "done")
	})

	t.Run("calls that run side by side are asked about one after the other", func(t *testing.T) {
		t.Parallel()
		b := asking(t, "ask look", func(b *bench) {
			decide(b)
			b.env.SetOnActivityCompletedListener(onCompleted(protocol.DeliverActivity, sync.OnceFunc(func() { decide(b) })))
		}, use([]string{"look", "look"}), say("done"))
		require.NoError(t, b.run(msg("m1")))
		require.Equal(t, []string{"done: look", "done: look"}, b.model.Requests()[1].Results())
		require.Len(t, b.posted(), 3)
	})
}

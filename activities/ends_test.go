package activities_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// TestEveryActivityEnds has an agent without a store, with which everything panics, and one
// whose store was restored from before the message.
func TestEveryActivityEnds(t *testing.T) {
	t.Parallel()
	type run func(*testing.T, *bundle, *activities.Outbox) error
	all := map[string]run{
		protocol.CompleteActivity: func(t *testing.T, b *bundle, _ *activities.Outbox) error {
			_, err := b.complete(t, "m1", 1, "m1")
			return err
		},
		protocol.CallToolActivity: func(t *testing.T, b *bundle, _ *activities.Outbox) error {
			_, err := b.callTool(t, 1, 0)
			return err
		},
		protocol.EndTurnActivity: func(t *testing.T, b *bundle, _ *activities.Outbox) error {
			_, err := execute[protocol.EndTurnResult](t, b.agent.EndTurn, protocol.EndTurnInput{
				Session: session, Turn: "m1", Messages: []string{"m1"}, Ending: protocol.EndingStopped,
			})
			return err
		},
		protocol.AnswerActivity: func(t *testing.T, b *bundle, _ *activities.Outbox) error {
			_, err := execute[protocol.AnswerResult](t, b.agent.Answer, protocol.AnswerInput{
				Session: session, Message: "m1", Command: domain.CommandStatus,
			})
			return err
		},
		protocol.ReportActivity: func(t *testing.T, b *bundle, _ *activities.Outbox) error {
			_, err := execute[any](t, b.agent.Report, protocol.ReportInput{Session: session, ID: "a1", Stopped: true})
			return err
		},
		protocol.DeliverActivity: func(t *testing.T, _ *bundle, o *activities.Outbox) error {
			_, err := execute[protocol.DeliverResult](t, o.Deliver, protocol.DeliverInput{Outbox: "o1"})
			return err
		},
	}
	restored := maps.Clone(all)
	all[protocol.RefillActivity] = func(t *testing.T, b *bundle, _ *activities.Outbox) error {
		_, err := execute[protocol.RefillResult](t, b.agent.Refill, protocol.RefillInput{Session: session.Key})
		return err
	}
	all[protocol.FireActivity] = func(t *testing.T, b *bundle, _ *activities.Outbox) error {
		_, err := execute[protocol.FireResult](t, b.agent.Fire, protocol.FireInput{Job: "j1"})
		return err
	}
	all[protocol.ConsolidateActivity] = func(t *testing.T, b *bundle, _ *activities.Outbox) error {
		_, err := execute[protocol.ConsolidateResult](t, b.agent.Consolidate, protocol.ConsolidateInput{})
		return err
	}
	for name, f := range all {
		t.Run(name+" that panics", func(t *testing.T) {
			t.Parallel()
			b := &bundle{agent: &activities.Agent{}}
			require.True(t, failed(t, f(t, b, &activities.Outbox{})).NonRetryable())
		})
	}
	for name, f := range restored {
		t.Run(name+" whose row is gone", func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			outbox := activities.NewOutbox(b.store, channeltest.NewMemory(session.Channel), b.workspace)
			require.True(t, failed(t, f(t, b, outbox)).NonRetryable())
		})
	}
}

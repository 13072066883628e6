package activities_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/metrics/metricstest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// counted has the agent count, and returns what has a name that begins with prefix.
func (b *bundle) counted() (m *metrics.Metrics, values func(t *testing.T, prefix string) map[string]float64) {
	m = metrics.New("v1")
	b.agent.Metrics = m
	return m, func(t *testing.T, prefix string) map[string]float64 {
		t.Helper()
		return metricstest.Values(t, metricstest.Text(t, m), prefix)
	}
}

func TestCountsTurns(t *testing.T) {
	t.Parallel()

	t.Run("that the model ended, once", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "noop", `{}`), llmtest.Text("done"))
		_, values := b.counted()
		b.asked(t)
		require.Empty(t, values(t, "holdfast_turns_total"))
		for range 2 {
			_, err := b.complete(t, "m1", 2)
			require.NoError(t, err)
		}
		b.endTurn(t, protocol.EndTurnInput{Turn: "m1", Ending: protocol.EndingStopped})
		require.Equal(t, map[string]float64{`holdfast_turns_total{channel="test",status="done"}`: 1}, values(t, "holdfast_turns_total"))
		require.Equal(t, map[string]float64{`holdfast_turn_duration_seconds_count{channel="test"}`: 1}, values(t, "holdfast_turn_duration_seconds_count"))
	})

	t.Run("of another kind that ended, once", func(t *testing.T) {
		t.Parallel()
		b := setup(t, calls(1, "noop", `{}`))
		_, values := b.counted()
		b.asked(t)
		for range 2 {
			b.endTurn(t, protocol.EndTurnInput{Turn: "m1", Ending: protocol.EndingStopped})
			b.endTurn(t, protocol.EndTurnInput{Turn: "none", Ending: protocol.EndingFailed, Reason: "Broken."})
		}
		require.Equal(t, map[string]float64{`holdfast_turns_total{channel="test",status="stopped"}`: 1}, values(t, "holdfast_turns_total"))
	})
}

func TestCountsToolCalls(t *testing.T) {
	t.Parallel()
	b := setup(t, llmtest.Calls(
		llmtest.Call{Name: "busy", Arguments: `{}`}, llmtest.Call{Name: "broken", Arguments: `{}`}, llmtest.Call{Name: "sorry", Arguments: `{}`},
		llmtest.Call{Name: "unknown", Arguments: `{}`}))
	_, values := b.counted()
	attempts := 0
	b.add(t, "busy", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) {
		if attempts++; attempts == 1 {
			return tool.Result{}, tool.ErrRetry
		}
		return tool.Result{Text: "fine"}, nil
	})
	b.add(t, "broken", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, errors.New("broken") })
	b.add(t, "sorry", tool.Repeatable, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "sorry", Failed: true}, nil
	})
	b.asked(t)
	_, err := b.callTool(t, 1, 0)
	require.Error(t, err)
	for _, index := range []int{0, 0, 1, 2, 3} { // a call with a result is not made again
		_, err := b.callTool(t, 1, index)
		require.NoError(t, err)
	}
	require.Equal(t, map[string]float64{
		`holdfast_tool_calls_total{outcome="retried",tool="busy"}`:  1,
		`holdfast_tool_calls_total{outcome="ok",tool="busy"}`:       1,
		`holdfast_tool_calls_total{outcome="failed",tool="broken"}`: 1,
		`holdfast_tool_calls_total{outcome="failed",tool="sorry"}`:  1,
	}, values(t, "holdfast_tool_calls_total"))
}

func TestCountsDeliveries(t *testing.T) {
	t.Parallel()
	b := setup(t, llmtest.Text("one"), llmtest.Text("two"))
	m, values := b.counted()
	refusals := []error{
		&remote.Error{Service: "test", Status: 429, Err: errors.New("slow down")},
		&remote.Error{Service: "test", Status: 503, Err: errors.New("away")},
		nil,
	}
	outbox := activities.NewOutbox(b.store, sender(func(domain.Outbound) (channels.Sent, error) {
		err := refusals[0]
		refusals = refusals[1:]
		return channels.Sent{PlatformID: "p1"}, err
	}), b.workspace)
	outbox.Metrics = m
	deliver := func(turn string) error {
		_, err := execute[protocol.DeliverResult](t, outbox.Deliver, protocol.DeliverInput{Outbox: domain.OutboxID(turn)})
		return err
	}
	for _, id := range []string{"m1", "m2"} {
		b.accept(t, id, "hi", true)
		_, err := b.complete(t, id, 1, id)
		require.NoError(t, err)
	}
	require.Error(t, deliver("m1"))
	require.Error(t, deliver("m1"))
	require.NoError(t, deliver("m1"))
	require.NoError(t, deliver("m1"), "it is there")
	refusals = []error{channels.ErrGone}
	require.NoError(t, deliver("m2"))
	require.Equal(t, map[string]float64{
		`holdfast_deliveries_total{channel="test",outcome="retried"}`: 2,
		`holdfast_deliveries_total{channel="test",outcome="ok"}`:      1,
		`holdfast_deliveries_total{channel="test",outcome="failed"}`:  1,
	}, values(t, "holdfast_deliveries_total"))
}

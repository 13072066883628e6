package metrics_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/metrics"
)

func TestCounts(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	m.Accepted("slack")
	m.Accepted("slack")
	m.TurnEnded("slack", domain.TurnDone, 3*time.Second)
	m.TurnEnded("slack", domain.TurnFailed, 5*time.Hour)
	m.ToolCalled("exec", metrics.OK, time.Second)
	m.ToolCalled("exec", metrics.Retried, 2*time.Second)
	m.Delivered("slack", metrics.Failed)
	m.Rated(domain.Rating{Channel: "slack", Good: true})
	all := series(t, m, "holdfast_")
	for name, want := range map[string]float64{
		`holdfast_build_info{version="v1"}`:                                 1,
		`holdfast_messages_accepted_total{channel="slack"}`:                 2,
		`holdfast_turns_total{channel="slack",status="done"}`:               1,
		`holdfast_turns_total{channel="slack",status="failed"}`:             1,
		`holdfast_turn_duration_seconds_bucket{channel="slack",le="2.5"}`:   0,
		`holdfast_turn_duration_seconds_bucket{channel="slack",le="5"}`:     1,
		`holdfast_turn_duration_seconds_bucket{channel="slack",le="14400"}`: 1,
		`holdfast_turn_duration_seconds_bucket{channel="slack",le="+Inf"}`:  2,
		`holdfast_turn_duration_seconds_sum{channel="slack"}`:               18003,
		`holdfast_tool_calls_total{outcome="ok",tool="exec"}`:               1,
		`holdfast_tool_calls_total{outcome="retried",tool="exec"}`:          1,
		`holdfast_tool_call_duration_seconds_sum{tool="exec"}`:              3,
		`holdfast_tool_call_duration_seconds_count{tool="exec"}`:            2,
		`holdfast_deliveries_total{channel="slack",outcome="failed"}`:       1,
		`holdfast_ratings_total{channel="slack",rating="good"}`:             1,
	} {
		require.Contains(t, all, name)
		require.InDelta(t, want, all[name], 0, name)
	}
	require.NotEmpty(t, series(t, m, "go_goroutines"))
	require.NotEmpty(t, series(t, m, "process_start_time_seconds"))
	requireLint(t, m)
}

func TestNothingIsCountedWithoutMetrics(t *testing.T) {
	t.Parallel()
	var m *metrics.Metrics
	m.Accepted("slack")
	m.TurnEnded("slack", domain.TurnDone, time.Second)
	m.ToolCalled("exec", metrics.OK, time.Second)
	m.Delivered("slack", metrics.OK)
	m.Rated(domain.Rating{Channel: "slack"})
	require.Nil(t, m.Temporal())
	var p llm.Provider = scripted{}
	require.Equal(t, p, m.Provider(p, "openai", "gpt", nil))
}

func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	m.ToolCalled("bad\xff", metrics.OK, time.Second)
	for i := range 1000 {
		m.ToolCalled("tool_"+strconv.Itoa(i), metrics.OK, time.Second)
	}
	m.ToolCalled("tool_0", metrics.OK, time.Second)
	all := series(t, m, "holdfast_tool_calls_total")
	require.Len(t, all, 201)
	require.InDelta(t, 801, all[`holdfast_tool_calls_total{outcome="ok",tool="other"}`], 0)
	require.InDelta(t, 2, all[`holdfast_tool_calls_total{outcome="ok",tool="tool_0"}`], 0)
	require.InDelta(t, 1, all["holdfast_tool_calls_total{outcome=\"ok\",tool=\"bad\uFFFD\"}"], 0)
}

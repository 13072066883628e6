package command

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/metrics/metricstest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// withMetrics is a change to a node that has metrics and, since they are not for a
// private process, is one of several on free ports.
func withMetrics(c *config.Config, r *node.Roles) {
	r.Private = false
	c.Temporal.Port, c.Temporal.UIPort, c.Channels.HTTP.Listen, c.Metrics.Listen = 0, 0, "127.0.0.1:0", "127.0.0.1:0"
}

// awaitMetrics waits until the metrics have the wanted values, which happens shortly
// after the events.
func (n *testNode) awaitMetrics(t testing.TB, want map[string]float64) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		values := metricstest.Values(c, metricstest.Scrape(c, n.MetricsURL()), "")
		for name, value := range want {
			require.Contains(c, values, name)
			require.InDelta(c, value, values[name], 1e-9, name)
		}
	}, patience, 20*time.Millisecond)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	look := llmtest.Calls(
		llmtest.Call{Name: "list_dir", Arguments: `{"path":"."}`},
		llmtest.Call{Name: "read_file", Arguments: `{"path":"hushed-argument"}`},
		llmtest.Call{Name: "hushed_tool", Arguments: `{}`})
	model := llmtest.NewServer(t,
		look.Usage(1000, 100).Cached(600), llmtest.Status(503, "0.05"), llmtest.Text("hushed reply").Usage(2000, 200),
		llmtest.Refuse(401, "invalid_api_key", "hushed error"),
		llmtest.Text("hushed reply").Usage(10, 1),
		llmtest.Hang())
	memory := channeltest.NewMemory("memory")
	n := startNode(t, model.URL, withMetrics, withChannels(map[string]node.PushChannel{"memory": memory}), func(c *config.Config, _ *node.Roles) {
		c.Prices["scripted/*"] = config.Price{Input: 2, Cached: 1, Output: 10}
	})

	require.Equal(t, domain.ReplyDone, n.ask(t, "hushed-session", "hushed text").Status)
	require.Equal(t, domain.ReplyFailed, n.ask(t, "hushed-session", "hushed text").Status)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	memory.Fail(1) // the second attempt is scheduled on the queue of the channel
	require.NoError(t, memory.Deliver(ctx, domain.Inbound{
		PlatformID: "hushed-message", Channel: "memory", Chat: "hushed-chat", Sender: "hushed-sender", Text: "hushed text", Push: true,
	}))
	_, err := memory.Await(ctx, 1)
	require.NoError(t, err)
	hanging := n.send(t, "hushed-other", "", "hushed text")
	require.NoError(t, model.Await(ctx, 6))
	const (
		of      = `model="model",provider="scripted"`
		outcome = `model="model",outcome=`
	)
	n.awaitMetrics(t, map[string]float64{"holdfast_turns_running": 1, "holdfast_messages_waiting": 0, "holdfast_approvals_waiting": 0})
	n.ask(t, "hushed-other", "/stop")
	require.Equal(t, domain.ReplyFailed, n.await(t, hanging).Status)

	n.awaitMetrics(t, map[string]float64{
		`holdfast_messages_accepted_total{channel="http"}`:                         4,
		`holdfast_messages_accepted_total{channel="memory"}`:                       1,
		`holdfast_turns_total{channel="http",status="done"}`:                       1,
		`holdfast_turns_total{channel="http",status="failed"}`:                     1,
		`holdfast_turns_total{channel="http",status="stopped"}`:                    1,
		`holdfast_turns_total{channel="memory",status="done"}`:                     1,
		`holdfast_turn_duration_seconds_count{channel="http"}`:                     3,
		`holdfast_model_calls_total{` + outcome + `"ok",provider="scripted"}`:      3,
		`holdfast_model_calls_total{` + outcome + `"failed",provider="scripted"}`:  1,
		`holdfast_model_calls_total{` + outcome + `"refused",provider="scripted"}`: 1,
		`holdfast_model_calls_total{` + outcome + `"stopped",provider="scripted"}`: 1,
		`holdfast_model_call_duration_seconds_count{` + of + `}`:                   6,
		`holdfast_model_tokens_total{kind="prompt",` + of + `}`:                    3010,
		`holdfast_model_tokens_total{kind="cached",` + of + `}`:                    600,
		`holdfast_model_tokens_total{kind="completion",` + of + `}`:                301,
		`holdfast_model_cost_dollars_total{` + of + `}`:                            0.00843,
		`holdfast_tool_calls_total{outcome="ok",tool="list_dir"}`:                  1,
		`holdfast_tool_calls_total{outcome="failed",tool="read_file"}`:             1,
		`holdfast_tool_call_duration_seconds_count{tool="list_dir"}`:               1,
		`holdfast_deliveries_total{channel="memory",outcome="ok"}`:                 1,
		`holdfast_build_info{version="` + build.Version + `"}`:                     1,
		`holdfast_store_up`:      1,
		`holdfast_turns_running`: 0,
		`temporal_activity_execution_latency_seconds_count{activity_type="CallTool"}`:           3,
		`temporal_activity_schedule_to_start_latency_seconds_count{task_queue="outbox/memory"}`: 1,
	})
	text := metricstest.Scrape(t, n.MetricsURL())
	values := metricstest.Values(t, text, "")
	require.NotContains(t, text, "hushed")
	require.NotContains(t, text, "http:")
	require.Contains(t, values, "go_goroutines")
	require.Contains(t, values, "process_start_time_seconds")
	require.Less(t, len(values), 1000, "series")
}

func TestMetricsOnAPortInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	cfg := config.Default(t.TempDir())
	cfg.Model = "demo"
	r := node.Roles{Engine: true, Worker: true, Starter: true}
	withMetrics(&cfg, &r)
	cfg.Metrics.Listen = taken.Addr().String()
	_, err = node.Open(t.Context(), cfg, testLog(t), r)
	require.ErrorContains(t, err, "metrics.listen")
	require.ErrorContains(t, err, "address already in use")
}

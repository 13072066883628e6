package metrics_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/metrics"
)

func TestTemporalsMetrics(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	client := m.Temporal().WithTags(map[string]string{"namespace": "default", "client_name": "temporal_go", "task_queue": "none"})
	agent := client.WithTags(map[string]string{"task_queue": "agent", "worker_type": "ActivityWorker"})
	agent.Gauge("temporal_worker_task_slots_used").Update(3)
	agent.Gauge("temporal_worker_task_slots_used").Update(2)
	agent.Gauge("temporal_sticky_cache_size").Update(9)

	request := client.WithTags(map[string]string{"operation": "SignalWithStartWorkflowExecution"})
	request.Counter("temporal_request").Inc(1)
	request.Timer("temporal_request_latency").Record(20 * time.Millisecond)
	request.WithTags(map[string]string{"status_code": "UNAVAILABLE"}).Counter("temporal_request_failure").Inc(2)
	for _, name := range []string{"Complete", "CallTool"} {
		agent.WithTags(map[string]string{"activity_type": name}).Timer("temporal_activity_schedule_to_start_latency").Record(time.Second)
	}

	all := series(t, m, "temporal_")
	for name, want := range map[string]float64{
		`temporal_worker_task_slots_used{task_queue="agent",worker_type="ActivityWorker"}`:                       2,
		`temporal_request_failure_total{operation="SignalWithStartWorkflowExecution",status_code="UNAVAILABLE"}`: 2,
		`temporal_request_latency_seconds_count{operation="SignalWithStartWorkflowExecution"}`:                   1,
		`temporal_request_latency_seconds_bucket{operation="SignalWithStartWorkflowExecution",le="0.025"}`:       1,
		`temporal_activity_schedule_to_start_latency_seconds_sum{task_queue="agent"}`:                            2,
	} {
		require.Contains(t, all, name)
		require.InDelta(t, want, all[name], 0, name)
	}
	for name := range all {
		require.NotRegexp(t, `sticky|temporal_request_total|namespace|client_name|activity_type`, name)
	}
	requireLint(t, m)
}

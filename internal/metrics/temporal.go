package metrics

import (
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
)

// temporal is the exported subset of the Temporal SDK's metrics, by the SDK's names. They
// are renamed as in Temporal's documentation for Prometheus: counters end in _total,
// timers in _seconds. Other tags are aggregated.
type temporal struct {
	counters map[string]labelled[*prometheus.CounterVec]
	gauges   map[string]labelled[*prometheus.GaugeVec]
	timers   map[string]labelled[*prometheus.HistogramVec]
}

// labelled is an instrument with the tags that are its labels.
type labelled[Vec any] struct {
	vec    Vec
	labels []string
}

// values returns the label values.
func (l labelled[Vec]) values(tags map[string]string) []string {
	values := make([]string, len(l.labels))
	for i, label := range l.labels {
		values[i] = tags[label]
	}
	return values
}

func newTemporal(m *Metrics) *temporal {
	t := &temporal{
		counters: map[string]labelled[*prometheus.CounterVec]{},
		gauges:   map[string]labelled[*prometheus.GaugeVec]{},
		timers:   map[string]labelled[*prometheus.HistogramVec]{},
	}
	count := func(name, help string, labels ...string) {
		t.counters[name] = labelled[*prometheus.CounterVec]{m.counter(name+"_total", help, labels...), labels}
	}
	count("temporal_request_failure", "Requests to Temporal that failed.", "operation", "status_code")
	count("temporal_long_request_failure", "Long polls of Temporal that failed.", "operation", "status_code")
	count("temporal_workflow_failed", "Workflows that failed. Should stay 0.", "workflow_type")
	count("temporal_workflow_task_execution_failed", "Workflow tasks that failed: a run is stuck until a worker completes one.",
		"workflow_type", "failure_reason")
	count("temporal_activity_execution_failed", "Attempts at activities that failed.", "activity_type")

	gauge := func(name, help string, labels ...string) {
		t.gauges[name] = labelled[*prometheus.GaugeVec]{m.gauge(name, help, labels...), labels}
	}
	gauge("temporal_worker_task_slots_available", "Free task slots of this worker.", "task_queue", "worker_type")
	gauge("temporal_worker_task_slots_used", "Used task slots of this worker.", "task_queue", "worker_type")

	timer := func(name, help string, labels ...string) {
		buckets := []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 60}
		t.timers[name] = labelled[*prometheus.HistogramVec]{m.histogram(name+"_seconds", help, buckets, labels...), labels}
	}
	timer("temporal_request_latency", "Duration of requests to Temporal.", "operation")
	timer("temporal_workflow_task_schedule_to_start_latency", "How long workflow tasks waited for a worker.")
	timer("temporal_workflow_task_execution_latency", "Duration of workflow tasks.", "workflow_type")
	timer("temporal_activity_schedule_to_start_latency", "How long activities waited for a worker.", "task_queue")
	timer("temporal_activity_execution_latency", "Duration of attempts at activities.", "activity_type")
	return t
}

// Temporal returns the metrics handler of a Temporal client; nil if m is nil.
func (m *Metrics) Temporal() client.MetricsHandler {
	if m == nil {
		return nil
	}
	return handler{kept: m.temporal}
}

// handler reports metrics with some tags.
type handler struct {
	kept *temporal
	tags map[string]string
}

// WithTags implements [client.MetricsHandler].
func (h handler) WithTags(tags map[string]string) client.MetricsHandler {
	all := make(map[string]string, len(h.tags)+len(tags))
	maps.Copy(all, h.tags)
	maps.Copy(all, tags)
	return handler{kept: h.kept, tags: all}
}

// Counter implements [client.MetricsHandler].
func (h handler) Counter(name string) client.MetricsCounter {
	if kept, is := h.kept.counters[name]; is {
		return counter{kept.vec.WithLabelValues(kept.values(h.tags)...)}
	}
	return client.MetricsNopHandler.Counter(name)
}

// Gauge implements [client.MetricsHandler].
func (h handler) Gauge(name string) client.MetricsGauge {
	if kept, is := h.kept.gauges[name]; is {
		return gauge{kept.vec.WithLabelValues(kept.values(h.tags)...)}
	}
	return client.MetricsNopHandler.Gauge(name)
}

// Timer implements [client.MetricsHandler].
func (h handler) Timer(name string) client.MetricsTimer {
	if kept, is := h.kept.timers[name]; is {
		return timer{kept.vec.WithLabelValues(kept.values(h.tags)...)}
	}
	return client.MetricsNopHandler.Timer(name)
}

type (
	counter struct{ of prometheus.Counter }
	gauge   struct{ of prometheus.Gauge }
	timer   struct{ of prometheus.Observer }
)

// Inc implements [client.MetricsCounter].
func (c counter) Inc(n int64) { c.of.Add(float64(n)) }

// Update implements [client.MetricsGauge].
func (g gauge) Update(value float64) { g.of.Set(value) }

// Record implements [client.MetricsTimer].
func (t timer) Record(took time.Duration) { t.of.Observe(took.Seconds()) }

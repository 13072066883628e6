// Package metrics exports the Prometheus metrics of a process. Label cardinality is
// bounded: no session, sender, text or argument is a label.
package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Metrics are the instruments of one process. A nil *Metrics counts nothing. Safe
// for concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	accepted      *prometheus.CounterVec
	turns         *prometheus.CounterVec
	turnSeconds   *prometheus.HistogramVec
	calls         *prometheus.CounterVec
	callSeconds   *prometheus.HistogramVec
	tokens        *prometheus.CounterVec
	dollars       *prometheus.CounterVec
	tools         *prometheus.CounterVec
	toolSeconds   *prometheus.HistogramVec
	deliveries    *prometheus.CounterVec
	ratings       *prometheus.CounterVec
	temporal      *temporal
	models, named names // of models and of tools, as labels
}

// Outcome is the outcome of an attempt at a tool call or a delivery.
type Outcome string

// The outcomes of attempts.
const (
	OK      Outcome = "ok"      // it succeeded
	Failed  Outcome = "failed"  // it failed for good
	Retried Outcome = "retried" // it failed and is retried
)

// New returns the instruments of a process; version becomes a label.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.gauge("holdfast_build_info", "1, with the version of this process.", "version").WithLabelValues(version).Set(1)

	m.accepted = m.counter("holdfast_messages_accepted_total", "Messages accepted from channels, including commands, each counted once.", "channel")
	m.turns = m.counter("holdfast_turns_total",
		"Turns that this process ended. One whose end is stored just before a crash may be missing.", "channel", "status")
	m.turnSeconds = m.histogram("holdfast_turn_duration_seconds", "Time from a turn's start to its end, including waits for approval.",
		[]float64{.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 14400}, "channel")
	m.calls = m.counter("holdfast_model_calls_total", "Attempts at model calls, including retries.", "provider", "model", "outcome")
	m.callSeconds = m.histogram("holdfast_model_call_duration_seconds", "Duration of attempts at model calls.",
		[]float64{.25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600}, "provider", "model")
	m.tokens = m.counter("holdfast_model_tokens_total",
		"Tokens of model calls that were answered, as the provider counts them. Cached ones are part of those of the prompt.", "provider", "model", "kind")
	m.dollars = m.counter("holdfast_model_cost_dollars_total",
		"Estimated cost of model calls that were answered, in US dollars, of models whose price is known.", "provider", "model")
	m.tools = m.counter("holdfast_tool_calls_total", "Attempts at tool calls, including retries.", "tool", "outcome")
	m.toolSeconds = m.histogram("holdfast_tool_call_duration_seconds", "Duration of attempts at tool calls.",
		[]float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 900, 1800}, "tool")
	m.deliveries = m.counter("holdfast_deliveries_total", "Attempts to post a message, or a part of a long one, to a channel.", "channel", "outcome")
	m.ratings = m.counter("holdfast_ratings_total", "Ratings of replies by people, and changes of them.", "channel", "rating")
	m.temporal = newTemporal(m)
	return m
}

func (m *Metrics) counter(name, help string, labels ...string) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(vec)
	return vec
}

func (m *Metrics) gauge(name, help string, labels ...string) *prometheus.GaugeVec {
	vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(vec)
	return vec
}

func (m *Metrics) histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.registry.MustRegister(vec)
	return vec
}

// Accepted counts a newly accepted message.
func (m *Metrics) Accepted(channel string) {
	if m == nil {
		return
	}
	m.accepted.WithLabelValues(channel).Inc()
}

// TurnEnded counts a turn that has just ended.
func (m *Metrics) TurnEnded(channel string, status domain.TurnStatus, took time.Duration) {
	if m == nil {
		return
	}
	m.turns.WithLabelValues(channel, string(status)).Inc()
	m.turnSeconds.WithLabelValues(channel).Observe(took.Seconds())
}

// ToolCalled counts an attempt at a call of a known tool.
func (m *Metrics) ToolCalled(tool string, outcome Outcome, took time.Duration) {
	if m == nil {
		return
	}
	tool = m.named.label(tool)
	m.tools.WithLabelValues(tool, string(outcome)).Inc()
	m.toolSeconds.WithLabelValues(tool).Observe(took.Seconds())
}

// Delivered counts an attempt to post to a channel.
func (m *Metrics) Delivered(channel string, outcome Outcome) {
	if m == nil {
		return
	}
	m.deliveries.WithLabelValues(channel, string(outcome)).Inc()
}

// Rated counts a rating of a reply.
func (m *Metrics) Rated(r domain.Rating) {
	if m == nil {
		return
	}
	m.ratings.WithLabelValues(r.Channel, r.Word()).Inc()
}

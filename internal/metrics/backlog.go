package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// backlogTimeout bounds how long a scrape waits for the store.
const backlogTimeout = 2 * time.Second

// Store counts unfinished work.
type Store interface {
	Backlog(ctx context.Context) (domain.Backlog, error)
}

// Watch reports the backlog of a store with each scrape. It is called once, and the
// server is closed before the store.
func (m *Metrics) Watch(s Store, log *slog.Logger) {
	describe := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	m.registry.MustRegister(&backlog{
		store: s, log: log,
		up:        describe("holdfast_store_up", "1 if the store answers, else 0."),
		waiting:   describe("holdfast_messages_waiting", "Accepted messages that no turn has consumed, in the whole store."),
		running:   describe("holdfast_turns_running", "Turns that are running or waiting for approval, in the whole store."),
		approvals: describe("holdfast_approvals_waiting", "Tool calls waiting for a person's approval, in the whole store."),
	})
}

// backlog collects the backlog of a store.
type backlog struct {
	store                           Store
	log                             *slog.Logger
	up, waiting, running, approvals *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (b *backlog) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{b.up, b.waiting, b.running, b.approvals} {
		to <- desc
	}
}

// Collect implements [prometheus.Collector].
func (b *backlog) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), backlogTimeout)
	defer cancel()
	send := func(desc *prometheus.Desc, value int) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value))
	}
	now, err := b.store.Backlog(ctx)
	if err != nil {
		b.log.Warn("backlog metrics unavailable", "err", err)
		send(b.up, 0)
		return
	}
	send(b.up, 1)
	send(b.waiting, now.Messages)
	send(b.running, now.Turns)
	send(b.approvals, now.Approvals)
}

package node

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/metrics"
)

// NewMetrics returns the instruments of this process; nil if nobody reads them.
func NewMetrics(cfg config.Config) *metrics.Metrics {
	if cfg.Metrics.Listen == "" {
		return nil
	}
	return metrics.New(build.Version)
}

// ServeMetrics lets Prometheus read m.
func ServeMetrics(ctx context.Context, m *metrics.Metrics, cfg config.Config, log *slog.Logger) (*metrics.Server, error) {
	server, err := m.Serve(ctx, cfg.Metrics.Listen, log)
	if err != nil {
		return nil, fmt.Errorf("open the metrics (metrics.listen, which each process needs for itself): %w", err)
	}
	return server, nil
}

// serveMetrics serves what this process counts, and what the store knows.
func (n *Node) serveMetrics(ctx context.Context) (err error) {
	if n.metrics == nil {
		return nil
	}
	n.metrics.Watch(n.Store, n.log)
	if n.scraped, err = ServeMetrics(ctx, n.metrics, n.Config, n.log); err == nil {
		n.onClose(n.scraped.Close)
	}
	return err
}

package node

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/health"
	"github.com/holdfast-ai/holdfast/internal/metrics"
)

// NewMetrics returns the metrics of this process; nil if they are off.
func NewMetrics(cfg config.Config) *metrics.Metrics {
	if cfg.Metrics.Listen == "" {
		return nil
	}
	return metrics.New(build.Version)
}

// ServeMetrics serves m to Prometheus, and the check to probes.
func ServeMetrics(ctx context.Context, m *metrics.Metrics, check health.Check, cfg config.Config, log *slog.Logger) (*metrics.Server, error) {
	server, err := m.Serve(ctx, cfg.Metrics.Listen, check, log)
	if err != nil {
		return nil, fmt.Errorf("serve metrics (metrics.listen, which must differ between processes): %w", err)
	}
	return server, nil
}

// serveMetrics serves the metrics of this process and of the store.
func (n *Node) serveMetrics(ctx context.Context) (err error) {
	if n.metrics == nil {
		return nil
	}
	n.metrics.Watch(n.Store, n.log)
	if n.scraped, err = ServeMetrics(ctx, n.metrics, n.health, n.Config, n.log); err == nil {
		n.onClose(n.scraped.Close)
	}
	return err
}

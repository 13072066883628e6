package metrics

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/price"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Provider wraps p and counts its calls under this service and model.
func (m *Metrics) Provider(p llm.Provider, service, model string, prices *price.Table) llm.Provider {
	if m == nil {
		return p
	}
	return &provider{Provider: p, metrics: m, service: service, model: model, prices: prices}
}

// provider counts the calls of the wrapped provider.
type provider struct {
	llm.Provider
	metrics *Metrics
	service string
	model   string
	prices  *price.Table
}

// Complete implements [llm.Provider].
func (p *provider) Complete(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Response, error) {
	started := time.Now()
	response, err := p.Provider.Complete(ctx, req, on)
	took := time.Since(started)

	m, model := p.metrics, p.metrics.models.label(p.model)
	m.calls.WithLabelValues(p.service, model, callOutcome(ctx, err)).Inc()
	m.callSeconds.WithLabelValues(p.service, model).Observe(took.Seconds())
	if err != nil {
		return response, err
	}
	m.tokens.WithLabelValues(p.service, model, "prompt").Add(float64(response.Usage.PromptTokens))
	m.tokens.WithLabelValues(p.service, model, "cached").Add(float64(response.CachedTokens))
	m.tokens.WithLabelValues(p.service, model, "completion").Add(float64(response.Usage.CompletionTokens))
	if cost, priced := p.prices.Cost(response.Usage, response.CachedTokens, p.service, p.model, response.Model); priced {
		m.dollars.WithLabelValues(p.service, model).Add(float64(cost) / microdollars)
	}
	return response, nil
}

// microdollars is the number of microdollars in a dollar.
const microdollars = 1e6

// callOutcome returns the outcome of a model call.
func callOutcome(ctx context.Context, err error) string {
	failed := remote.As(err)
	switch {
	case err == nil:
		return "ok"
	case ctx.Err() != nil:
		return "stopped"
	case errors.Is(err, llm.ErrTooLong):
		return "too_long"
	case failed == nil:
		return "failed"
	case failed.Status == http.StatusTooManyRequests:
		return "rate_limited"
	case failed.Permanent():
		return "refused"
	default:
		return "failed"
	}
}

package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/llm/price"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// scripted answers each call in the same way.
type scripted struct {
	response llm.Response
	err      error
}

// Complete implements [llm.Provider].
func (s scripted) Complete(context.Context, llm.Request, func(llm.Delta)) (llm.Response, error) {
	return s.response, s.err
}

func TestModelCalls(t *testing.T) {
	t.Parallel()
	m := metrics.New("v1")
	prices := price.New(map[string]price.Price{"lab/m": {Input: 2, Cached: 1, Output: 10}}, nil)
	call := func(ctx context.Context, model string, s scripted) {
		response, err := m.Provider(s, "lab", model, prices).Complete(ctx, llm.Request{Model: model}, nil)
		require.Equal(t, s.response, response)
		require.Equal(t, s.err, err)
	}
	answer := llm.Response{Usage: domain.Usage{PromptTokens: 1000, CompletionTokens: 100}, CachedTokens: 600}
	call(t.Context(), "m", scripted{response: answer})
	call(t.Context(), "m", scripted{response: answer})
	call(t.Context(), "free", scripted{response: answer})
	stopped, stop := context.WithCancel(t.Context())
	stop()
	call(stopped, "m", scripted{err: context.Canceled})
	for _, err := range []error{
		&remote.Error{Service: "lab", Status: 429, Err: errors.New("busy")},
		&remote.Error{Service: "lab", Status: 401, Err: errors.New("bad key")},
		&remote.Error{Service: "lab", Status: 500, Err: errors.New("broken")},
		&remote.Error{Service: "lab", Err: errors.New("no route")},
		errors.New("anything"),
		fmt.Errorf("%w: %w", llm.ErrTooLong, &remote.Error{Service: "lab", Status: 400, Err: errors.New("long")}),
	} {
		call(t.Context(), "m", scripted{err: err})
	}
	require.Equal(t, map[string]float64{
		`holdfast_model_call_duration_seconds_count{model="m",provider="lab"}`:    9,
		`holdfast_model_call_duration_seconds_count{model="free",provider="lab"}`: 1,
	}, series(t, m, "holdfast_model_call_duration_seconds_count"))
	require.Equal(t, map[string]float64{
		`holdfast_model_calls_total{model="free",outcome="ok",provider="lab"}`:        1,
		`holdfast_model_calls_total{model="m",outcome="ok",provider="lab"}`:           2,
		`holdfast_model_calls_total{model="m",outcome="failed",provider="lab"}`:       3,
		`holdfast_model_calls_total{model="m",outcome="rate_limited",provider="lab"}`: 1,
		`holdfast_model_calls_total{model="m",outcome="refused",provider="lab"}`:      1,
		`holdfast_model_calls_total{model="m",outcome="stopped",provider="lab"}`:      1,
		`holdfast_model_calls_total{model="m",outcome="too_long",provider="lab"}`:     1,
	}, series(t, m, "holdfast_model_calls_total"))
	require.Equal(t, map[string]float64{
		`holdfast_model_tokens_total{kind="prompt",model="free",provider="lab"}`:     1000,
		`holdfast_model_tokens_total{kind="cached",model="free",provider="lab"}`:     600,
		`holdfast_model_tokens_total{kind="completion",model="free",provider="lab"}`: 100,
		`holdfast_model_tokens_total{kind="prompt",model="m",provider="lab"}`:        2000,
		`holdfast_model_tokens_total{kind="cached",model="m",provider="lab"}`:        1200,
		`holdfast_model_tokens_total{kind="completion",model="m",provider="lab"}`:    200,
	}, series(t, m, "holdfast_model_tokens_total"))
	require.Equal(t, map[string]float64{`holdfast_model_cost_dollars_total{model="m",provider="lab"}`: 0.0048},
		series(t, m, "holdfast_model_cost"), "the other's price is not known")
	requireLint(t, m)
}

// Package fallback is a provider that asks several models in order until one
// answers. A model that fails repeatedly is skipped during a cooldown.
package fallback

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// shortWait is how long a busy model is worth waiting for: the caller gets its
// error and repeats the call after that time.
const shortWait = 5 * time.Second

// Candidate is a model to ask.
type Candidate struct {
	Name     string       // "provider/model", as the user writes it
	Provider llm.Provider // makes one attempt
	Model    string       // as the provider names it
}

// service is the provider's name.
func (c Candidate) service() string {
	name, _, _ := strings.Cut(c.Name, "/")
	return name
}

// Provider asks its candidates in order. It implements [llm.Provider]: a call makes
// at most one attempt at each candidate.
type Provider struct {
	candidates []*candidate
	logger     *slog.Logger
}

var _ llm.Provider = (*Provider)(nil)

// candidate is a Candidate with its circuit breaker.
type candidate struct {
	Candidate
	breaker breaker
}

// New returns a provider that prefers the first candidates. A nil logger logs
// nothing.
func New(candidates []Candidate, logger *slog.Logger) (*Provider, error) {
	if len(candidates) == 0 {
		return nil, errors.New("fallback: no models given")
	}
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	p := &Provider{logger: logger}
	for _, c := range candidates {
		p.candidates = append(p.candidates, &candidate{Candidate: c})
	}
	return p, nil
}

// Complete implements [llm.Provider]. It replaces the request's model by each
// candidate's; the response names the one that answered. The next candidate is
// asked if one cannot be reached, fails (5xx, a truncated stream), is busy for
// longer than [shortWait], or rejects the key, the account or the model (401, 402,
// 403, 404). If text was already shown, a delta with Reset comes first. Errors
// that another model would return too are returned at once: a conversation that
// is too long, images, an invalid request (400).
//
// If no candidate answers, the error is that of the first one worth a retry, with
// the shortest wait, and names the others.
func (p *Provider) Complete(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Response, error) {
	relay := &relay{on: on}
	only := !slices.ContainsFunc(p.candidates, func(c *candidate) bool { return c.breaker.ready() })
	var failed failures
	for _, c := range p.candidates {
		if last, wait := c.breaker.admit(only); last != nil {
			failed = append(failed, failure{c.Name, last, wait})
			continue
		}
		response, err := c.ask(ctx, req, relay.begin())
		if err == nil || !tryNext(err) {
			return response, err
		}
		said := remote.As(err)
		cooling := c.breaker.failed(said)
		if busy(said) && !cooling {
			return llm.Response{}, err
		}
		p.logger.Warn("model failed", "model", c.Name, "cooldown", cooling, "err", err)
		failed = append(failed, failure{c.Name, said, said.RetryAfter})
	}
	return llm.Response{}, failed.err()
}

// ask makes one attempt and records a success.
func (c *candidate) ask(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Response, error) {
	defer c.breaker.done()
	req.Model = c.Model
	response, err := c.Provider.Complete(ctx, req, on)
	switch {
	case err == nil:
		c.breaker.succeeded()
		response.Provider, response.Asked = c.service(), c.Model
		response.Model = cmp.Or(response.Model, c.Model)
	case remote.As(err) != nil && !tryNext(err):
		c.breaker.succeeded() // it works; only this request was rejected
	}
	return response, err
}

// tryNext reports whether err is a reason to ask the next candidate.
func tryNext(err error) bool {
	failed := remote.As(err)
	if failed == nil || errors.Is(err, llm.ErrTooLong) || errors.Is(err, llm.ErrNoImages) {
		return false
	}
	return !failed.Permanent() || failed.Status == http.StatusForbidden || nonRetryable(failed)
}

// busy reports whether the model is worth waiting for.
func busy(failed *remote.Error) bool {
	return failed.Status == http.StatusTooManyRequests && failed.RetryAfter > 0 && failed.RetryAfter <= shortWait
}

// relay forwards deltas, and resets them when another candidate starts.
type relay struct {
	on    func(llm.Delta)
	shown bool
}

// begin returns the callback for the next candidate's deltas.
func (r *relay) begin() func(llm.Delta) {
	if r.on == nil {
		return nil
	}
	if r.shown {
		r.on(llm.Delta{Reset: true})
		r.shown = false
	}
	return func(d llm.Delta) {
		r.shown = true
		r.on(d)
	}
}

// Package fallback is a provider of providers: it asks the first model that can
// answer. One that cannot rests for a while, and costs nothing meanwhile.
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

// shortWait is how long a model that is busy is worth waiting for: its error goes
// to the caller, who makes the call again after that time.
const shortWait = 5 * time.Second

// Candidate is a model that may answer.
type Candidate struct {
	Name     string       // "provider/model", as the user knows it
	Provider llm.Provider // makes one attempt
	Model    string       // as the provider names it
}

// service is the provider's name.
func (c Candidate) service() string {
	name, _, _ := strings.Cut(c.Name, "/")
	return name
}

// Provider asks its candidates in order. It implements [llm.Provider]; a call of
// it is at most one attempt at each candidate.
type Provider struct {
	candidates []*candidate
	logger     *slog.Logger
}

var _ llm.Provider = (*Provider)(nil)

// candidate is a Candidate and how it fares.
type candidate struct {
	Candidate
	breaker breaker
}

// New returns a provider of the candidates, the most wanted first. A nil logger
// logs nothing.
func New(candidates []Candidate, logger *slog.Logger) (*Provider, error) {
	if len(candidates) == 0 {
		return nil, errors.New("fallback: there is no model to ask")
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

// Complete implements [llm.Provider]. The model asked is each candidate's own,
// whatever the request says; the response says whose it was. The next candidate
// is asked when one cannot be reached, fails (5xx, a cut stream), is busy for
// longer than a moment, or refuses the key, the account or the model (401, 402,
// 403, 404); it starts anew, after a delta that says so where text was shown.
// What another model would refuse, too, goes to the caller at once: a
// conversation that is too long, images, a request that is wrong (400).
//
// When nobody answers, the error is that of the first candidate that is worth
// another attempt, with the shortest time to wait for one, and names the others.
func (p *Provider) Complete(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Response, error) {
	relay := &relay{on: on}
	nobodyElse := !slices.ContainsFunc(p.candidates, func(c *candidate) bool { return c.breaker.ready() })
	var failed failures
	for _, c := range p.candidates {
		if last, wait := c.breaker.admit(nobodyElse); last != nil {
			failed = append(failed, failure{c.Name, last, wait})
			continue
		}
		response, err := c.ask(ctx, req, relay.begin())
		if err == nil || !isReason(err) {
			return response, err
		}
		said := remote.As(err)
		rests := c.breaker.failed(said)
		if busy(said) && !rests {
			return llm.Response{}, err
		}
		p.logger.Warn("model cannot answer", "model", c.Name, "rests", rests, "err", err)
		failed = append(failed, failure{c.Name, said, said.RetryAfter})
	}
	return llm.Response{}, failed.err()
}

// ask makes one attempt, and records its success.
func (c *candidate) ask(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Response, error) {
	defer c.breaker.done()
	req.Model = c.Model
	response, err := c.Provider.Complete(ctx, req, on)
	switch {
	case err == nil:
		c.breaker.succeeded()
		response.Provider, response.Asked = c.service(), c.Model
		response.Model = cmp.Or(response.Model, c.Model)
	case remote.As(err) != nil && !isReason(err):
		c.breaker.succeeded() // it answers, if only that the request is wrong
	}
	return response, err
}

// isReason reports whether err is a reason to ask another candidate.
func isReason(err error) bool {
	failed := remote.As(err)
	if failed == nil || errors.Is(err, llm.ErrTooLong) || errors.Is(err, llm.ErrNoImages) {
		return false
	}
	return !failed.Permanent() || failed.Status == http.StatusForbidden || hopeless(failed)
}

// busy reports whether the model will answer in a moment.
func busy(failed *remote.Error) bool {
	return failed.Status == http.StatusTooManyRequests && failed.RetryAfter > 0 && failed.RetryAfter <= shortWait
}

// relay passes deltas on, and tells when another candidate starts anew.
type relay struct {
	on    func(llm.Delta)
	shown bool
}

// begin returns what a candidate calls with its deltas.
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

// Package web has the agent's tools for the web: reading pages and searching.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	defaultTimeout   = 30 * time.Second
	defaultUserAgent = "Mozilla/5.0 (compatible; Holdfast/1.0)"

	// attemptLimit is how often a failing site is tried: more would make a person
	// wait for a page that is simply down.
	attemptLimit = 3
)

// Options is what the web tools need. The zero value works.
type Options struct {
	Search    Search
	UserAgent string        // empty: one that names Holdfast
	Timeout   time.Duration // of a whole call, reading the body included; 0: 30 seconds
	// AllowPrivate says which addresses web_fetch may reach although they are not
	// public. Nil allows none.
	AllowPrivate func(netip.AddrPort) bool
	Resolver     *net.Resolver // looks up the hosts of web_fetch; nil: the system's
}

// New returns web_fetch and web_search. A search backend that is unknown, or
// named without being configured, is an error.
func New(o Options) ([]tool.Tool, error) {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.UserAgent = cmp.Or(o.UserAgent, defaultUserAgent)
	s, err := newSearcher(o)
	if err != nil {
		return nil, err
	}
	f := fetcher{client: guardedClient(o), agent: o.UserAgent, timeout: o.Timeout}
	fetch, err := tool.New("web_fetch", fetchDescription, tool.Repeatable, f.fetch)
	if err != nil {
		return nil, err
	}
	search, err := tool.New("web_search", searchDescription, tool.Repeatable, s.search)
	if err != nil {
		return nil, err
	}
	tools := []tool.Tool{fetch, search}
	for i := range tools {
		tools[i].ReadOnly = true
		// Longer than our own timeout, whose message is the better one.
		tools[i].Timeout = o.Timeout + 5*time.Second
	}
	return tools, nil
}

// refusal is a request that we do not make. Another attempt would not be made either.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// errTooSlow is the cause of a call's own deadline.
var errTooSlow = errors.New("timeout")

// unanswered says why a request got no response. ctx is the call's, own is the
// one with our deadline.
func unanswered(ctx, own context.Context, service string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(context.Cause(own), errTooSlow) {
		return fmt.Errorf("%s did not answer in time; try again later or something else", service)
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return fmt.Errorf("there is no host %s; check the URL", dns.Name)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the URL is known, and may be long
	}
	return &remote.Error{Service: service, Err: err}
}

// rejected turns a response that is no success into an error.
func rejected(service string, response *http.Response, detail string) error {
	return &remote.Error{
		Service:    service,
		Status:     response.StatusCode,
		RetryAfter: remote.RetryAfter(response.Header, time.Now()),
		Err:        errors.New(cmp.Or(detail, http.StatusText(response.StatusCode), "no further explanation")),
	}
}

// settle makes a failure one for the model to read after enough attempts.
func settle(call tool.Call, err error) error {
	if failed := remote.As(err); failed != nil && call.Attempt >= attemptLimit {
		return fmt.Errorf("gave up after %d attempts: %s", call.Attempt, failed.Error())
	}
	return err
}

// Package web has the agent's tools for fetching web pages and searching the web.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	defaultTimeout   = 30 * time.Second
	defaultUserAgent = "Mozilla/5.0 (compatible; Holdfast/1.0)"

	// attemptLimit is low because a person may be waiting for a site that is down.
	attemptLimit = 3
)

// Options configure the web tools. The zero value works.
type Options struct {
	Search    Search
	UserAgent string        // empty: one that names Holdfast
	Timeout   time.Duration // of a whole call, including the body; 0: 30 seconds
	// AllowPrivate reports which non-public addresses web_fetch may access; nil: none.
	AllowPrivate func(netip.AddrPort) bool
	Resolver     *net.Resolver // resolves the hosts of web_fetch; nil: the system's
}

// New returns web_fetch and web_search. It fails for an unknown search backend, or
// one that is selected but not configured.
func New(o Options) ([]tool.Tool, error) {
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.UserAgent = cmp.Or(o.UserAgent, defaultUserAgent)
	s, err := newSearcher(o)
	if err != nil {
		return nil, err
	}
	f := fetcher{client: guardedClient(o), agent: o.UserAgent, timeout: o.Timeout}
	tools := []tool.Tool{
		tool.New("web_fetch", fetchDescription, tool.Repeatable, f.fetch),
		tool.New("web_search", searchDescription, tool.Repeatable, s.search),
	}
	for i := range tools {
		tools[i].ReadOnly = true
		// Longer than our own timeout, which has the better error message.
		tools[i].Timeout = o.Timeout + 5*time.Second
	}
	return tools, nil
}

// refusal is the error of a request that is not allowed. It is not retryable.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// errTooSlow is the cause of a call's own deadline.
var errTooSlow = errors.New("timeout")

// unanswered returns why a request got no response. ctx is the call's context, own
// the one with our deadline.
func unanswered(ctx, own context.Context, service string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(context.Cause(own), errTooSlow) {
		return fmt.Errorf("%s did not answer in time; try again later or try another source", service)
	}
	if refused, ok := errors.AsType[*refusal](err); ok {
		return refused
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return fmt.Errorf("host %s not found; check the URL", dns.Name)
	}
	return &remote.Error{Service: service, Err: remote.WithoutURL(err)}
}

// settle makes a failure final, for the model to read, after attemptLimit attempts.
func settle(call tool.Call, err error) error {
	if failed := remote.As(err); failed != nil && call.Attempt >= attemptLimit {
		return fmt.Errorf("gave up after %d attempts: %s", call.Attempt, failed.Error())
	}
	return err
}

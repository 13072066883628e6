// Package webhook is the channel for other programs: replies are pushed to them as signed
// HTTP requests, in the form of Standard Webhooks. Messages come in through the HTTP API,
// which names the endpoint that gets the reply, or from a job.
//
// Only endpoints of the configuration are called; a request names one and cannot give a URL.
// The key of a message is the same in every attempt, so a program that keeps the keys it has
// seen gets each message once.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Name is the channel's name.
const Name = "webhook"

// Endpoint is a program that gets messages.
type Endpoint struct {
	URL       string
	Secret    string // that requests are signed with; see [Sign]
	OldSecret string // that they are signed with, too, while the program changes to the new one; empty: none
	Private   bool   // it may be at an address that is not public
}

// Options are the settings of the channel.
type Options struct {
	Endpoints map[string]Endpoint // by name
	KeyLasts  time.Duration       // how long programs remember keys
	Timeout   time.Duration       // of a request
	Logger    *slog.Logger
}

// Channel is the channel: a [channels.Sender], and a [channels.Receiver] that receives
// nothing. Safe for concurrent use.
type Channel struct {
	*platform
	*chat.Outbound
}

// platform is all endpoints as a [chat.Writer]: each is a chat.
type platform struct {
	o       Options
	clients map[string]*http.Client // by endpoint
	limits  chat.Limiter
}

// New returns a channel.
func New(o Options) (*Channel, error) {
	p := &platform{o: o, clients: map[string]*http.Client{}, limits: chat.Limiter{Service: Name}}
	for name, e := range o.Endpoints {
		if _, err := keyOf(e.Secret); err != nil || e.Secret == "" {
			return nil, fmt.Errorf("channels.webhook.endpoints.%s.secret: %w", name, errors.Join(errNoSecret, err))
		}
		u, err := url.Parse(e.URL)
		if err != nil || u.Hostname() == "" {
			return nil, fmt.Errorf("channels.webhook.endpoints.%s.url is not a URL", name)
		}
		p.clients[name] = newClient(e.Private, o.Timeout)
	}
	return &Channel{platform: p, Outbound: chat.NewOutbound(p, chat.OutboundOptions{Logger: o.Logger})}, nil
}

var errNoSecret = errors.New("must be whsec_ and base64, or at least 24 characters")

// IsDirect reports whether a chat is with one person, as none is.
func IsDirect(string) bool { return false }

// Run implements [channels.Receiver]: messages come in through the HTTP API.
func (*Channel) Run(ctx context.Context, _ channels.Backend) error {
	<-ctx.Done()
	return nil
}

// Locate implements [channels.Locator].
func (p *platform) Locate(_ context.Context, name, _ string) (string, error) {
	if _, known := p.o.Endpoints[name]; !known {
		names := strings.Join(slices.Sorted(maps.Keys(p.o.Endpoints)), ", ")
		return "", channels.MalformedError{What: "chat", Value: name, Want: "the name of an endpoint in channels.webhook.endpoints: " + names}
	}
	return name, nil
}

// CheckSetup reports which endpoints there are. It calls none.
func (c *Channel) CheckSetup(context.Context) (findings []chat.Finding) {
	if len(c.o.Endpoints) == 0 {
		return []chat.Finding{chat.Warned("add one to channels.webhook.endpoints; see docs/webhook.md", "there are no endpoints")}
	}
	for _, name := range slices.Sorted(maps.Keys(c.o.Endpoints)) {
		u, _ := url.Parse(c.o.Endpoints[name].URL) // checked by New
		findings = append(findings, chat.Passed("the endpoint %s is at %s://%s", name, u.Scheme, u.Host))
	}
	return findings
}

// Webhook returns the server that is delivered to: none.
func (*Channel) Webhook() *chat.Webhook { return nil }

// Name implements [chat.Writer].
func (*platform) Name() string { return Name }

// Limits implements [chat.Writer].
func (*platform) Limits() chat.Limits { return chat.Limits{Text: textLimit, Buttons: true} }

// textLimit bounds the characters of a message.
const textLimit = 500_000

// KeyLasts implements [chat.Keyed].
func (p *platform) KeyLasts() time.Duration { return p.o.KeyLasts }

// gone is the error of a message for an endpoint that takes none any more.
func gone(format string, args ...any) error {
	return &remote.Error{Service: Name, Status: http.StatusGone, Err: fmt.Errorf("%w: %s", channels.ErrGone, fmt.Sprintf(format, args...))}
}

// Package openai calls models through the OpenAI-compatible chat-completion API,
// which nearly every provider offers. Requests, streams and errors go through
// go-openai. What providers do differently is kept in three places: request.go
// (what they expect), answer.go (what they return) and refusals.go (how they
// phrase errors).
package openai

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/llm"
)

// Options are a client's settings.
type Options struct {
	Service      string        // the provider as the user knows it, for errors; "openai" when empty
	BaseURL      string        // required: without /chat/completions
	Setting      string        // of BaseURL, for errors; that of the provider when empty
	APIKey       string        // sent as a bearer token; not sent when empty
	Timeout      time.Duration // of a whole call; 10 minutes when 0
	StallTimeout time.Duration // longest silence in a stream, including its start; 2 minutes when 0
	NoStream     bool          // for servers that cannot stream; only Timeout then detects a stall
	Quirks       llm.Quirks    // of the provider; those of known models apply anyway
	HTTPClient   *http.Client  // nil for a default one that keeps connections alive
}

// OptionsFor returns the settings for what [llm.Choose] chose.
func OptionsFor(choice llm.Choice) Options {
	return Options{
		Service: choice.Name,
		BaseURL: choice.BaseURL,
		APIKey:  choice.APIKey,
		Timeout: choice.Timeout,
		Quirks:  choice.Provider.Quirks,
	}
}

// Client calls one provider. It implements [llm.Provider].
type Client struct {
	opts     Options
	config   openai.ClientConfig
	base     string // URL for people, without a password
	errStall error
	errTime  error
}

var _ llm.Provider = (*Client)(nil)

// New returns a client for the provider at opts.BaseURL. It makes no call.
func New(opts Options) (*Client, error) {
	opts.Service = cmp.Or(opts.Service, "openai")
	base, err := url.Parse(opts.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("%s: the base URL must be an http or https URL", opts.Service)
	}
	opts.Setting = cmp.Or(opts.Setting, "providers."+opts.Service+".base_url")
	opts.Timeout = cmp.Or(opts.Timeout, 10*time.Minute)
	opts.StallTimeout = cmp.Or(opts.StallTimeout, 2*time.Minute)
	if opts.NoStream {
		opts.StallTimeout = math.MaxInt64 // a complete answer arrives in one piece
	}
	if opts.HTTPClient == nil {
		opts.HTTPClient = newHTTPClient()
	}
	config := openai.DefaultConfig(opts.APIKey)
	config.BaseURL = opts.BaseURL
	config.EmptyMessagesLimit = math.MaxUint
	return &Client{
		opts:     opts,
		config:   config,
		base:     base.Redacted(),
		errStall: fmt.Errorf("no data for %s", opts.StallTimeout),
		errTime:  fmt.Errorf("not done after %s", opts.Timeout),
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.opts.HTTPClient.CloseIdleConnections() }

// Complete implements [llm.Provider].
func (c *Client) Complete(ctx context.Context, req llm.Request, on func(llm.Delta)) (resp llm.Response, err error) {
	if on == nil {
		on = func(llm.Delta) {}
	}
	a := &assembly{on: on}
	err = c.call(ctx, func(ctx context.Context, api *openai.Client, x *exchange) error {
		if err := c.stream(ctx, api, c.request(req, x), x, a); err != nil {
			return err
		}
		resp, err = a.response()
		return err
	})
	return resp, err
}

// Models returns the names of the models that the provider lists, in its order.
// Errors are like those of Complete. It shows whether the provider can be reached
// and accepts the key.
func (c *Client) Models(ctx context.Context) (names []string, err error) {
	err = c.call(ctx, func(ctx context.Context, api *openai.Client, _ *exchange) error {
		list, err := api.ListModels(ctx)
		for _, m := range list.Models {
			names = append(names, m.ID)
		}
		return err
	})
	return names, err
}

// call runs one HTTP exchange within the client's time limits and classifies its
// error.
func (c *Client) call(ctx context.Context, do func(context.Context, *openai.Client, *exchange) error) error {
	timed, stop := context.WithTimeoutCause(ctx, c.opts.Timeout, c.errTime)
	defer stop()
	callCtx, cancel := context.WithCancelCause(timed)
	defer cancel(nil)
	x := &exchange{client: c.opts.HTTPClient, noStream: c.opts.NoStream, silence: c.opts.StallTimeout}
	x.timer = time.AfterFunc(x.silence, func() { cancel(c.errStall) })
	defer x.timer.Stop()
	config := c.config
	config.HTTPClient = x
	if err := do(callCtx, openai.NewClientWithConfig(config), x); err != nil {
		return c.failure(ctx, callCtx, x, err)
	}
	return nil
}

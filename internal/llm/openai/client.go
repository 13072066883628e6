// Package openai calls models through the OpenAI-compatible chat-completion API
// that nearly every provider has.
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	BaseURL      string        // required: up to and without /chat/completions
	APIKey       string        // sent as a bearer token; none when empty
	Timeout      time.Duration // of a whole call; 10 minutes when 0
	StallTimeout time.Duration // of silence in a stream, its beginning included; 2 minutes when 0
	NoStream     bool          // for servers that cannot stream; a stall then is noticed by Timeout only
	Quirks       llm.Quirks    // the provider's own; what is known of models anywhere applies besides
	HTTPClient   *http.Client  // nil for one of our own, with connections kept alive
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
	api      *openai.Client
	http     *http.Client
	errStall error
	errTime  error
}

var _ llm.Provider = (*Client)(nil)

// New returns a client for the provider at opts.BaseURL. It does not call it.
func New(opts Options) (*Client, error) {
	opts.Service = cmp.Or(opts.Service, "openai")
	base, err := url.Parse(opts.BaseURL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, fmt.Errorf("%s: the base URL must be an http or https URL", opts.Service)
	}
	opts.Timeout = cmp.Or(opts.Timeout, 10*time.Minute)
	opts.StallTimeout = cmp.Or(opts.StallTimeout, 2*time.Minute)
	if opts.HTTPClient == nil {
		opts.HTTPClient = newHTTPClient()
	}
	c := &Client{
		opts:     opts,
		http:     opts.HTTPClient,
		errStall: fmt.Errorf("no data for %s", opts.StallTimeout),
		errTime:  fmt.Errorf("not done after %s", opts.Timeout),
	}
	config := openai.DefaultConfig(opts.APIKey)
	config.BaseURL = opts.BaseURL
	config.HTTPClient = doer{opts.HTTPClient}
	config.EmptyMessagesLimit = math.MaxUint
	c.api = openai.NewClientWithConfig(config)
	return c, nil
}

// Close lets go of the connections that are kept alive.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Complete implements [llm.Provider].
func (c *Client) Complete(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Response, error) {
	if on == nil {
		on = func(llm.Delta) {}
	}
	timed, stop := context.WithTimeoutCause(ctx, c.opts.Timeout, c.errTime)
	defer stop()
	callCtx, cancel := context.WithCancelCause(timed)
	defer cancel(nil)

	x := &exchange{}
	if !c.opts.NoStream {
		x.watch(c.opts.StallTimeout, func() { cancel(c.errStall) })
		defer x.timer.Stop()
	}
	callCtx = context.WithValue(callCtx, exchangeKey{}, x)

	a := &assembly{on: on}
	var err error
	if c.opts.NoStream {
		err = c.fetch(callCtx, req, x, a)
	} else {
		err = c.stream(callCtx, req, x, a)
	}
	if err != nil {
		return llm.Response{}, c.failure(ctx, callCtx, x, err)
	}
	resp, err := a.response()
	if err != nil {
		return llm.Response{}, c.failure(ctx, callCtx, x, err)
	}
	return resp, nil
}

// fetch makes the call without streaming.
func (c *Client) fetch(ctx context.Context, req llm.Request, x *exchange, a *assembly) error {
	var answer bytes.Buffer
	x.copy = &answer
	if _, err := c.api.CreateChatCompletion(ctx, c.request(req, x)); err != nil {
		return err
	}
	var whole chunk
	if err := json.NewDecoder(&answer).Decode(&whole); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if len(whole.Choices) == 0 {
		return errors.New("the answer has no choices")
	}
	a.add(whole)
	return nil
}

// Models returns the names of the models that the provider lists, in its order.
// Errors are as those of Complete. It tells whether a provider answers at all
// and takes the key.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	timed, stop := context.WithTimeoutCause(ctx, c.opts.Timeout, c.errTime)
	defer stop()
	x := &exchange{}
	list, err := c.api.ListModels(context.WithValue(timed, exchangeKey{}, x))
	if err != nil {
		return nil, c.failure(ctx, timed, x, err)
	}
	names := make([]string, len(list.Models))
	for i, m := range list.Models {
		names[i] = m.ID
	}
	return names, nil
}

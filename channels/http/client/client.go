// Package client talks to the HTTP API of a running agent.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/health"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	service      = "holdfast"
	callTimeout  = time.Minute
	answerLimit  = 64 << 20
	errorExcerpt = 200
)

// Client calls the API. Its errors are [remote.Error]s. Safe for concurrent use.
type Client struct {
	base  atomic.Value // string
	token string
	http  *nethttp.Client
	find  func(context.Context) string // nil: the server does not move
}

// New returns a client for the API at baseURL, such as http://127.0.0.1:8090. The
// token may be empty.
func New(baseURL, token string) *Client {
	c := &Client{token: token, http: &nethttp.Client{}}
	c.base.Store(strings.TrimRight(baseURL, "/"))
	return c
}

// NewFinding returns a client like [New]. After a call without an answer it asks find where
// the server is now; an empty URL means that it is not to be found.
func NewFinding(baseURL, token string, find func(context.Context) string) *Client {
	c := New(baseURL, token)
	c.find = find
	return c
}

// url returns the URL of a path.
func (c *Client) url(path string) string { return c.base.Load().(string) + path }

// unanswered is the error of a call that got no answer.
func (c *Client) unanswered(ctx context.Context, err error) error {
	if c.find != nil && ctx.Err() == nil {
		if found := c.find(ctx); found != "" {
			c.base.Store(strings.TrimRight(found, "/"))
		}
	}
	return &remote.Error{Service: service, Err: err}
}

// Send submits a message in one attempt. Repeating it with the same ID is safe. The
// server makes an ID if it is empty.
func (c *Client) Send(ctx context.Context, session, id, text string) (http.Receipt, error) {
	var receipt http.Receipt
	err := c.call(ctx, "POST", "/v1/messages", http.SendRequest{Session: session, ID: id, Text: text}, &receipt)
	return receipt, err
}

// Transcript returns the stored messages of the session with this key.
func (c *Client) Transcript(ctx context.Context, session string) ([]domain.Message, error) {
	var transcript http.Transcript
	err := c.call(ctx, "GET", "/v1/sessions/"+url.PathEscape(session)+"/messages", nil, &transcript)
	return transcript.Messages, err
}

// Background returns the background replies of the session with this key that ended
// after the given time, oldest first, at most 100.
func (c *Client) Background(ctx context.Context, session string, after time.Time) ([]domain.BackgroundReply, error) {
	query := url.Values{}
	if !after.IsZero() {
		query.Set("after", after.UTC().Format(time.RFC3339Nano))
	}
	var background http.Background
	err := c.call(ctx, "GET", "/v1/sessions/"+url.PathEscape(session)+"/background?"+query.Encode(), nil, &background)
	return background.Replies, err
}

// Health returns the agent's status and version.
func (c *Client) Health(ctx context.Context) (http.Health, error) {
	var health http.Health
	err := c.call(ctx, "GET", "/healthz", nil, &health)
	return health, err
}

// Ready returns what the process says about itself and the services that it needs.
func (c *Client) Ready(ctx context.Context) (health.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r, err := nethttp.NewRequestWithContext(ctx, nethttp.MethodGet, c.url("/readyz"), nil)
	if err != nil {
		return health.Report{}, fmt.Errorf("make request: %w", err)
	}
	response, err := c.http.Do(r) // it is an answer, whatever its status
	if err != nil {
		return health.Report{}, c.unanswered(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	var report health.Report
	if err := json.NewDecoder(io.LimitReader(response.Body, answerLimit)).Decode(&report); err != nil {
		return health.Report{}, &remote.Error{Service: service, Err: fmt.Errorf("decode answer: %w", err)}
	}
	return report, nil
}

// call sends request as JSON unless it is nil, and decodes the answer.
func (c *Client) call(ctx context.Context, method, path string, request, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	response, err := c.do(ctx, method, path, request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(io.LimitReader(response.Body, answerLimit)).Decode(answer); err != nil {
		return &remote.Error{Service: service, Err: fmt.Errorf("decode answer: %w", err)}
	}
	return nil
}

// do returns the response to a successful request. The caller closes its body.
func (c *Client) do(ctx context.Context, method, path string, request any) (*nethttp.Response, error) {
	var body io.Reader
	if request != nil {
		encoded, err := json.Marshal(request)
		if err != nil {
			return nil, fmt.Errorf("encode request: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	r, err := nethttp.NewRequestWithContext(ctx, method, c.url(path), body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, c.unanswered(ctx, err)
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	defer func() { _ = response.Body.Close() }()
	return nil, refusal(response)
}

func refusal(response *nethttp.Response) error {
	content, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return &remote.Error{Service: service, Status: response.StatusCode, Err: err}
	}
	var said http.ErrorBody
	message := string(content[:min(len(content), errorExcerpt)])
	if json.Unmarshal(content, &said) == nil && said.Error.Message != "" {
		message = said.Error.Message
	}
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	return &remote.Error{
		Service: service, Status: response.StatusCode,
		RetryAfter: time.Duration(seconds) * time.Second, Err: errors.New(message),
	}
}

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
	"time"

	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/internal/domain"
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
	base  string
	token string
	http  *nethttp.Client
}

// New returns a client for the API at baseURL, such as http://127.0.0.1:8090. The
// token may be empty.
func New(baseURL, token string) *Client {
	return &Client{base: strings.TrimRight(baseURL, "/"), token: token, http: &nethttp.Client{}}
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
	r, err := nethttp.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return nil, &remote.Error{Service: service, Err: err}
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

// Package web is what the clients of platforms have in common: calls of an API, the meaning
// of error codes, files at trusted hosts, and websockets.
package web

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// OperatorDelay is the delay of the next attempt while the operator has to fix something.
const OperatorDelay = 30 * time.Second

// Client makes calls of an API, one attempt each. Its errors name no URL: that may contain
// a secret. Answers and errors do not repeat the secrets of their calls.
type Client struct {
	service string
	timeout time.Duration
	limit   int64
	http    http.Client
}

// NewClient returns a client of a service, which errors name. Its calls have this timeout
// and answers of at most limit bytes. It follows no redirect: secrets are for one host.
func NewClient(service string, timeout time.Duration, limit int64) *Client {
	c := &Client{service: service, timeout: timeout, limit: limit}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c
}

// Call is a call of an API.
type Call struct {
	Name   string // in errors
	Method string
	URL    string
	Header http.Header
	Body   any   // sent as JSON; nil: none
	Form   *Form // sent instead
	Raw    []byte
	// Secrets are those in the call besides the credentials of its Authorization header.
	Secrets []string
	// Timeout is another one than the client's, such as that of an upload.
	Timeout time.Duration
}

// Answer is the answer to a call, whatever its status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	service, name string
}

// Do makes a call and reads the answer. Its error is a [remote.Error] without a status: what
// became of the call is unknown.
func (c *Client) Do(ctx context.Context, call Call) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(call.Timeout, c.timeout))
	defer cancel()
	response, err := c.Open(ctx, call)
	if err != nil {
		return nil, err
	}
	return c.Read(call, response)
}

// Read reads and closes the answer to a call.
func (c *Client) Read(call Call, response *http.Response) (*Answer, error) {
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, c.limit+1))
	if err == nil && int64(len(body)) > c.limit {
		err = errors.New("it is too large")
	}
	a := &Answer{response.StatusCode, response.Header, Redact(body, call.secrets()...), c.service, call.Name}
	if err != nil && a.OK() {
		return nil, a.unreadable(err)
	}
	return a, nil
}

// Open makes a call of which the answer may be large. It has no timeout of its own.
func (c *Client) Open(ctx context.Context, call Call) (*http.Response, error) {
	body, kind, err := call.encode()
	if err != nil {
		return nil, fmt.Errorf("%s: encode the call: %w", call.Name, err)
	}
	request, err := http.NewRequestWithContext(ctx, call.Method, call.URL, body)
	if err != nil {
		return nil, c.failed(call, err)
	}
	for name, values := range call.Header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.failed(call, err)
	}
	return response, nil
}

func (c *Client) failed(call Call, err error) error {
	return &remote.Error{Service: c.service, Err: fmt.Errorf("%s: %w", call.Name, RedactError(remote.WithoutURL(err), call.secrets()...))}
}

func (c Call) encode() (body io.Reader, kind string, err error) {
	switch {
	case c.Form != nil:
		return c.Form.encode()
	case c.Raw != nil:
		return bytes.NewReader(c.Raw), "application/octet-stream", nil
	case c.Body == nil:
		return http.NoBody, "", nil
	}
	encoded, err := json.Marshal(c.Body)
	return bytes.NewReader(encoded), "application/json; charset=utf-8", err
}

// OK reports whether the call succeeded, by its status.
func (a *Answer) OK() bool { return a.Status >= 200 && a.Status < 300 }

// Decode decodes the answer, unless out is nil.
func (a *Answer) Decode(out any) error {
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(a.Body, out); err != nil {
		return a.unreadable(err)
	}
	return nil
}

func (a *Answer) unreadable(err error) error {
	return &remote.Error{Service: a.service, Err: fmt.Errorf("%s: read the answer: %w", a.name, err)}
}

// Refused returns the error of an answer that reports one. If why is nil, the answer is not
// the platform's own: if another attempt would fail, too, that waits for the operator.
func (a *Answer) Refused(why error) *remote.Error {
	failed := &remote.Error{Service: a.service, Status: a.Status, RetryAfter: remote.RetryAfter(a.Header, time.Now())}
	if why == nil {
		why = fmt.Errorf("not an answer of %s's (status %d)", a.service, a.Status)
		if failed.Permanent() || failed.Status < http.StatusBadRequest {
			failed.Status, failed.RetryAfter = http.StatusBadGateway, OperatorDelay
		}
	}
	failed.Err = fmt.Errorf("%s: %w", a.name, why)
	return failed
}

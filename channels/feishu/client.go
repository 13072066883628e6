package feishu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	callTimeout = 30 * time.Second
	fileTimeout = 5 * time.Minute
	maxAnswer   = 16 << 20 // bytes of an answer
)

// client makes calls of the Open API as the app.
type client struct {
	base    string
	appID   string
	secret  string
	http    *http.Client
	files   *http.Client
	token   chat.Token
	limits  chat.Limiter
	service string // names the platform in errors
}

func newClient(o Options) *client {
	c := &client{
		base: o.base(), appID: o.AppID, secret: o.AppSecret, service: Name,
		http: &http.Client{Timeout: callTimeout}, files: &http.Client{Timeout: fileTimeout},
		limits: chat.Limiter{Service: Name},
	}
	c.token.Fetch = c.fetchToken
	return c
}

// request is a call of the API.
type request struct {
	name   string // of the method, in errors and for its rate limit
	verb   string // empty: GET
	path   string
	query  url.Values
	body   any // sent as JSON; nil: none
	form   *form
	chat   string // whose rate limit the call counts against; empty: none
	public bool   // it is made without a token
}

// form is a body that is not JSON.
type form struct {
	kind    string // content type
	content []byte
}

// call makes a call and decodes the whole answer. Its error is a [remote.Error]. While the
// platform asked to wait with such calls, the error says for how long.
func (c *client) call(ctx context.Context, r request, answer any) error {
	return c.limits.Do(ctx, r.name, r.chat, r.chat != "", func(ctx context.Context) error {
		response, err := c.open(ctx, r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if answer == nil {
			return nil
		}
		if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(answer); err != nil {
			return &remote.Error{Service: c.service, Err: fmt.Errorf("%s: read the answer: %w", r.name, err)}
		}
		return nil
	})
}

// open makes a call and returns its response if it succeeded. A token that is refused is
// replaced once.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	response, token, err := c.attempt(ctx, r)
	if badToken[code(err)] {
		c.token.Reject(token)
		response, _, err = c.attempt(ctx, r)
	}
	return response, err
}

func (c *client) attempt(ctx context.Context, r request) (response *http.Response, token string, err error) {
	if !r.public {
		if token, err = c.token.Get(ctx); err != nil {
			return nil, "", err
		}
	}
	call, err := c.build(ctx, r, token)
	if err != nil {
		return nil, token, fmt.Errorf("%s: %w", r.name, err)
	}
	via := c.http
	if r.form != nil || r.name == methodDownload {
		via = c.files
	}
	response, err = via.Do(call)
	if err != nil {
		return nil, token, &remote.Error{Service: c.service, Err: fmt.Errorf("%s: %w", r.name, remote.WithoutURL(err))}
	}
	if err := c.refusal(r.name, response); err != nil {
		return nil, token, errors.Join(err, response.Body.Close())
	}
	return response, token, nil
}

func (c *client) build(ctx context.Context, r request, token string) (*http.Request, error) {
	verb, kind, body := http.MethodGet, "", []byte(nil)
	if r.verb != "" {
		verb = r.verb
	}
	switch {
	case r.form != nil:
		kind, body = r.form.kind, r.form.content
	case r.body != nil:
		encoded, err := json.Marshal(r.body)
		if err != nil {
			return nil, err
		}
		kind, body = "application/json; charset=utf-8", encoded
	}
	address := c.base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	call, err := http.NewRequestWithContext(ctx, verb, address, bytes.NewReader(body))
	if err != nil {
		return nil, remote.WithoutURL(err)
	}
	if kind != "" {
		call.Header.Set("Content-Type", kind)
	}
	if token != "" {
		call.Header.Set("Authorization", "Bearer "+token)
	}
	return call, nil
}

// fetchToken gets an access token for the app in its own tenant.
func (c *client) fetchToken(ctx context.Context) (string, time.Duration, error) {
	var answer struct {
		Token  string `json:"tenant_access_token"`
		Expire int    `json:"expire"` // seconds
	}
	err := c.call(ctx, request{
		name: "tenant access token", verb: http.MethodPost, path: "/open-apis/auth/v3/tenant_access_token/internal", public: true,
		body: map[string]string{"app_id": c.appID, "app_secret": c.secret},
	}, &answer)
	if err == nil && answer.Token == "" {
		err = &remote.Error{Service: c.service, Err: errors.New("tenant access token: the answer has none")}
	}
	return answer.Token, time.Duration(answer.Expire) * time.Second, err
}

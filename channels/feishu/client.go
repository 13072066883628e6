package feishu

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	callTimeout = 30 * time.Second
	fileTimeout = 5 * time.Minute
	maxAnswer   = 16 << 20 // bytes of an answer
)

// client makes calls of the Open API as the app.
type client struct {
	base   string
	appID  string
	secret string
	web    *web.Client
	token  chat.Token
	limits chat.Limiter
}

func newClient(o Options) *client {
	c := &client{base: o.base(), appID: o.AppID, secret: o.AppSecret, web: web.NewClient(Name, callTimeout, maxAnswer), limits: chat.Limiter{Service: Name}}
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
	form   *web.Form
	chat   string // whose rate limit the call counts against; empty: none
	public bool   // it is made without a token
}

// call makes a call and decodes the whole answer. Its error is a [remote.Error]. While the
// platform asked to wait with such calls, the error says for how long.
func (c *client) call(ctx context.Context, r request, out any) error {
	return c.limits.Do(ctx, r.name, r.chat, r.chat != "", func(ctx context.Context) error {
		return c.attempt(ctx, r, func(call web.Call) error {
			answer, err := c.web.Do(ctx, call)
			if err != nil {
				return err
			}
			if err := refusal(answer); err != nil {
				return err
			}
			return answer.Decode(out)
		})
	})
}

// download opens the file at a path.
func (c *client) download(ctx context.Context, path string) (response *http.Response, err error) {
	err = c.limits.Do(ctx, "download a file", "", false, func(ctx context.Context) error {
		return c.attempt(ctx, request{name: "download a file", path: path}, func(call web.Call) error {
			if response, err = c.web.Open(ctx, call); err != nil || response.StatusCode == http.StatusOK { //nolint:bodyclose // the caller closes it
				return err
			}
			answer, err := c.web.Read(call, response)
			if err != nil {
				return err
			}
			return refusal(answer)
		})
	})
	return response, err
}

// attempt makes a call; once more with another token if the first is refused.
func (c *client) attempt(ctx context.Context, r request, do func(web.Call) error) error {
	call := web.Call{Name: r.name, Method: cmp.Or(r.verb, http.MethodGet), URL: c.base + r.path, Body: r.body, Form: r.form, Secrets: []string{c.secret}}
	if len(r.query) > 0 {
		call.URL += "?" + r.query.Encode()
	}
	if r.form != nil {
		call.Timeout = fileTimeout
	}
	if r.public {
		return do(call)
	}
	var err error
	for range 2 {
		token, failed := c.token.Get(ctx)
		if failed != nil {
			return failed
		}
		call.Header = http.Header{"Authorization": {"Bearer " + token}}
		if err = do(call); !badToken[code(err)] {
			return err
		}
		c.token.Reject(token)
	}
	return err
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
		err = &remote.Error{Service: Name, Err: errors.New("tenant access token: the answer has none")}
	}
	return answer.Token, time.Duration(answer.Expire) * time.Second, err
}

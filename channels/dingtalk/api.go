package dingtalk

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	callTimeout = 15 * time.Second // of a call
	fileTimeout = 5 * time.Minute  // of a file
	maxAnswer   = 4 << 20          // bytes
	patience    = 2 * time.Second  // how long a call waits rather than being refused
	// limitedFor is how long to wait after DingTalk refused a call as one too many: it does
	// not say how long.
	limitedFor = 3 * time.Second
)

// fetchToken gets an access token.
func (p *platform) fetchToken(ctx context.Context) (string, time.Duration, error) {
	var answer struct {
		Token  string `json:"accessToken"`
		Expire int    `json:"expireIn"` // seconds
	}
	err := p.call(ctx, http.MethodPost, "/v1.0/oauth2/accessToken", "", map[string]any{"appKey": p.o.ClientID, "appSecret": p.o.ClientSecret}, &answer)
	if err != nil {
		return "", 0, fmt.Errorf("get an access token: %w", err)
	}
	return answer.Token, time.Duration(max(answer.Expire, 60)) * time.Second, nil
}

// api makes one call of the API. chat is the one that it writes to; empty: none. Its error
// is a [remote.Error].
func (p *platform) api(ctx context.Context, method, path, chat string, arguments map[string]any, answer any) error {
	return p.limits.Do(ctx, path, chat, chat != "", func(ctx context.Context) error {
		token, err := p.token.Get(ctx)
		if err != nil {
			return err
		}
		err = p.call(ctx, method, path, token, arguments, answer)
		if failed := remote.As(err); failed != nil && errors.Is(err, errToken) {
			p.token.Reject(token)
		}
		return err
	})
}

// call is api without its token and limits.
func (p *platform) call(ctx context.Context, method, path, token string, arguments map[string]any, out any) error {
	header := http.Header{"Accept": {"application/json"}}
	if token != "" {
		header.Set("X-Acs-Dingtalk-Access-Token", token)
	}
	return p.do(ctx, web.Call{
		Name: path, Method: method, URL: p.o.APIURL + path, Header: header, Body: arguments, Secrets: []string{token, p.o.ClientSecret},
	}, out)
}

// do makes a call and decodes the answer.
func (p *platform) do(ctx context.Context, call web.Call, out any) error {
	answer, err := p.web.Do(ctx, call)
	if err != nil {
		return err
	}
	if answer.Status != http.StatusOK {
		return failure(answer)
	}
	return answer.Decode(out)
}

var (
	errToken  = errors.New("the access token is no longer valid")
	errExists = errors.New("there is a card with this ID already")
	errNoCard = errors.New("there is no card with this ID")
)

// failure returns the error that an answer reports. DingTalk names its errors by codes such as
// Forbidden.AccessDenied.QpsLimitForAppkeyAndApi, which differ between methods, so they are
// recognized by what is in them.
func failure(answer *web.Answer) error {
	var said struct{ Code, Message string }
	_ = json.Unmarshal(answer.Body, &said) // what is not DingTalk's has no code
	failed := answer.Refused(fmt.Errorf("%s: %s", cmp.Or(said.Code, "no code"), cmp.Or(said.Message, "no further explanation")))
	code := strings.ToLower(said.Code)
	has := func(parts ...string) bool {
		for _, part := range parts {
			if strings.Contains(code, part) {
				return true
			}
		}
		return false
	}
	wrap := func(status int, kind error) {
		failed.Status, failed.Err = status, fmt.Errorf("%w: %w", kind, failed.Err)
	}
	switch {
	case failed.Status == http.StatusTooManyRequests, has("qpslimit", "throttl", "flowcontrol", "toomanyrequests"):
		failed.Status, failed.RetryAfter = http.StatusTooManyRequests, cmp.Or(failed.RetryAfter, limitedFor)
	case has("invalidauthentication", "invalidaccesstoken"), failed.Status == http.StatusUnauthorized && said.Code == "":
		wrap(http.StatusServiceUnavailable, errToken)
	case has("exist") && !has("notexist", "not_exist", "not.exist", "nonexist"):
		wrap(http.StatusConflict, errExists)
	case has("card") && has("notexist", "not_exist", "not.exist", "notfound", "not.found"):
		wrap(http.StatusNotFound, errNoCard)
	case has("conversation", "robot", "staff", "user") && has("notexist", "not.exist", "notfound", "not.found", "invalid", "dismiss"):
		wrap(http.StatusBadRequest, channels.ErrGone)
	case failed.Permanent() && (said.Code == "" || has("accessdenied", "forbidden", "invalidclient", "appkey", "secret")):
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, web.OperatorDelay
		failed.Err = fmt.Errorf("%w; check the app's credentials and permissions", failed.Err)
	}
	return failed
}

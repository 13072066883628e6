package dingtalk

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
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
	// operatorDelay is the delay of the next attempt while the operator has to fix the app.
	operatorDelay = 30 * time.Second
)

// newHTTP returns an HTTP client that follows redirects of downloads to trusted hosts only.
func newHTTP(o Options, timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		if r.Method != http.MethodGet || len(via) > 3 || !o.trusts(r.URL.String()) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
}

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
func (p *platform) call(ctx context.Context, method, path, token string, arguments map[string]any, answer any) error {
	body, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	request, err := http.NewRequestWithContext(ctx, method, p.o.APIURL+path, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("call %s: %w", path, err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	if token != "" {
		request.Header.Set("X-Acs-Dingtalk-Access-Token", token)
	}
	return p.do(p.http, request, path, answer)
}

// do makes a request and decodes the answer.
func (p *platform) do(client *http.Client, request *http.Request, path string, answer any) error {
	response, err := client.Do(request)
	if err != nil {
		return &remote.Error{Service: Name, Err: fmt.Errorf("%s: %w", path, remote.WithoutURL(err))}
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if response.StatusCode != http.StatusOK {
		return failure(path, response, body)
	}
	if err == nil {
		err = json.Unmarshal(body, answer)
	}
	if err != nil {
		return &remote.Error{Service: Name, Err: fmt.Errorf("%s: read the answer: %w", path, err)}
	}
	return nil
}

var (
	errToken  = errors.New("the access token is no longer valid")
	errExists = errors.New("there is a card with this ID already")
	errNoCard = errors.New("there is no card with this ID")
)

// failure returns the error of a response. DingTalk names its errors by codes such as
// Forbidden.AccessDenied.QpsLimitForAppkeyAndApi, which differ between methods, so they are
// recognized by what is in them.
func failure(path string, response *http.Response, body []byte) error {
	var said struct{ Code, Message string }
	_ = json.Unmarshal(body, &said) // what is not DingTalk's has no code
	failed := remote.Rejected(Name, response, fmt.Sprintf("%s: %s: %s", path, cmp.Or(said.Code, "no code"), cmp.Or(said.Message, "no further explanation")))
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
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, operatorDelay
		failed.Err = fmt.Errorf("%w; check the app's credentials and permissions", failed.Err)
	}
	return failed
}

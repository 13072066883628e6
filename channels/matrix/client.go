package matrix

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	callTimeout  = 30 * time.Second
	fileTimeout  = 5 * time.Minute
	maxAnswer    = 64 << 20  // bytes
	maxRefusal   = 256 << 10 // bytes of an answer that is an error
	maxRedirects = 3
)

// The error codes that we ask for.
const (
	codeUnrecognized = "M_UNRECOGNIZED" // the homeserver does not know the method
	codeNotFound     = "M_NOT_FOUND"
	codeForbidden    = "M_FORBIDDEN"
	codeUnknownToken = "M_UNKNOWN_TOKEN"
	codeLimited      = "M_LIMIT_EXCEEDED"
	codeUnknown      = "M_UNKNOWN"       // of a position: Synapse
	codeInvalid      = "M_INVALID_PARAM" // of a position
)

// client makes single calls of the client-server API.
type client struct {
	homeserver string
	token      string
	http       *http.Client
	limits     chat.Limiter

	mu   sync.Mutex
	base string // where the API is; empty: the homeserver was not asked yet
}

func newClient(o Options) *client {
	return &client{homeserver: o.Homeserver, token: o.AccessToken, limits: chat.Limiter{Service: Name, Patience: patience}, http: &http.Client{
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if via[0].Method != http.MethodGet || len(via) > maxRedirects || via[0].URL.Scheme == "https" && r.URL.Scheme != "https" {
				return http.ErrUseLastResponse
			}
			r.Header.Del("Authorization") // files may be elsewhere
			return nil
		},
	}}
}

// request is a call.
type request struct {
	name    string // in errors
	method  string // empty: GET
	path    string // escaped
	query   url.Values
	body    any           // sent as JSON; nil: none
	kind    string        // of content; empty: none
	content []byte        // sent as it is
	timeout time.Duration // 0: callTimeout
}

// roomPath returns the path of a room's method, with further segments.
func roomPath(chat string, segments ...string) string {
	path := []string{"/_matrix/client/v3/rooms", url.PathEscape(roomOf(chat))}
	for _, s := range segments {
		path = append(path, url.PathEscape(s))
	}
	return strings.Join(path, "/")
}

// call makes a call and decodes its answer, if that is not nil. Its error is a [remote.Error].
func (c *client) call(ctx context.Context, r request, answer any) error {
	if r.timeout == 0 {
		r.timeout = callTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	response, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
	case len(body) > maxAnswer:
		err = errors.New("the answer is too large")
	case answer != nil:
		err = json.Unmarshal(body, answer)
	}
	if err != nil {
		return &remote.Error{Service: Name, Err: fmt.Errorf("%s: read the answer: %w", r.name, err)}
	}
	return nil
}

// open makes a call and returns its answer, which is not a refusal.
func (c *client) open(ctx context.Context, r request) (*http.Response, error) {
	base, err := c.discover(ctx)
	if err != nil {
		return nil, err
	}
	if r.body != nil {
		r.kind = "application/json"
		if r.content, err = json.Marshal(r.body); err != nil {
			return nil, fmt.Errorf("encode %s: %w", r.name, err)
		}
	}
	address := base + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	response, err := c.do(ctx, r, address, "Bearer "+c.token)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, c.rejected(r.name, response)
	}
	return response, nil
}

// do makes a request to an address.
func (c *client) do(ctx context.Context, r request, address, authorization string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(r.content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name, err)
	}
	if r.kind != "" {
		request.Header.Set("Content-Type", r.kind)
	}
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, &remote.Error{Service: Name, Err: fmt.Errorf("%s: %w", r.name, web.RedactError(remote.WithoutURL(err), c.token))}
	}
	return response, nil
}

// refusal is the homeserver's answer to a call that it did not carry out.
type refusal struct {
	Code         string `json:"errcode"`
	Text         string `json:"error"`
	RetryAfterMS int64  `json:"retry_after_ms"`
}

// Error implements error.
func (r *refusal) Error() string { return r.Code + ": " + r.Text }

// codeOf returns the code of the homeserver's refusal; empty if the error is none.
func codeOf(err error) string {
	if r, is := errors.AsType[*refusal](err); is {
		return r.Code
	}
	return ""
}

// rejected returns the error of a response. What no attempt would change is a proxy's if it
// has no code, and waits for the operator.
func (c *client) rejected(name string, response *http.Response) error {
	failed := remote.Rejected(Name, response, name+": "+http.StatusText(response.StatusCode))
	var said refusal
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // without it the status says enough
	if json.Unmarshal(web.Redact(body, c.token), &said) != nil || said.Code == "" {
		if failed.Permanent() || failed.Status < http.StatusBadRequest {
			failed.Status, failed.RetryAfter = http.StatusBadGateway, web.OperatorDelay
		}
		return failed
	}
	failed.Err = fmt.Errorf("%s: %w", name, &said)
	if wait := time.Duration(min(max(said.RetryAfterMS, 0), day.Milliseconds())) * time.Millisecond; wait > failed.RetryAfter {
		failed.RetryAfter = wait
	}
	switch said.Code {
	case codeLimited:
		failed.Status = http.StatusTooManyRequests
	case codeUnknownToken, "M_MISSING_TOKEN", "M_USER_LOCKED", "M_USER_SUSPENDED", "M_USER_DEACTIVATED": // replies wait for the operator
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, web.OperatorDelay
		failed.Err = fmt.Errorf("%w; check the account and channels.matrix.access_token", failed.Err)
	}
	return failed
}

const day = 24 * time.Hour

// discover returns where the homeserver's API is. Who is asked by name may name another
// address.
func (c *client) discover(ctx context.Context) (string, error) {
	if strings.Contains(c.homeserver, "://") {
		return c.homeserver, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base != "" {
		return c.base, nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	const name = "find the homeserver"
	response, err := c.do(ctx, request{name: name}, "https://"+c.homeserver+"/.well-known/matrix/client", "")
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		c.base = "https://" + c.homeserver
		return c.base, nil
	default:
		return "", c.rejected(name, response)
	}
	var known struct {
		Homeserver struct {
			URL string `json:"base_url"`
		} `json:"m.homeserver"`
	}
	err = json.NewDecoder(io.LimitReader(response.Body, maxRefusal)).Decode(&known)
	if u, invalid := url.Parse(known.Homeserver.URL); err != nil || invalid != nil || u.Scheme != "https" || u.Host == "" {
		return "", &remote.Error{Service: Name, RetryAfter: web.OperatorDelay, Err: fmt.Errorf("%s: %s does not say where", name, c.homeserver)}
	}
	c.base = strings.TrimRight(known.Homeserver.URL, "/")
	return c.base, nil
}

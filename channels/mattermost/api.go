package mattermost

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	callTimeout = 15 * time.Second
	fileTimeout = 5 * time.Minute // of an upload or a download
	maxAnswer   = 32 << 20        // bytes: 1,000 posts are one
	patience    = 2 * time.Second // how long a call waits rather than being refused
)

var errToken = errors.New("the token is not valid: check channels.mattermost.token")

// newHTTP returns a client that follows no redirect: the token is for one host.
func newHTTP(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// call makes one attempt at a call and decodes the answer, if that is not nil. Its error is a
// [remote.Error].
func (p *platform) call(ctx context.Context, method, path string, arguments, answer any) error {
	body, err := json.Marshal(arguments)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return p.limited(ctx, func(ctx context.Context) error {
		request, err := p.request(ctx, method, path, bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		return p.do(p.web, request, answer)
	})
}

// limitedMethod is the name under which all calls are limited together.
const limitedMethod = "call"

// limited makes a call unless the server asked to wait.
func (p *platform) limited(ctx context.Context, call func(context.Context) error) error {
	return p.limits.Do(ctx, limitedMethod, "", false, call)
}

func (p *platform) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, p.o.URL+"/api/v4"+path, body)
	if err != nil {
		return nil, errors.New("channels.mattermost.url is not a URL")
	}
	request.Header.Set("Authorization", "Bearer "+p.o.Token)
	return request, nil
}

// do makes a request and decodes the answer.
func (p *platform) do(client *http.Client, request *http.Request, answer any) error {
	response, err := p.open(client, request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(answer); err != nil {
		return &remote.Error{Service: Name, Err: fmt.Errorf("%s: read the answer: %w", routeOf(request), err)}
	}
	return nil
}

// open makes a request and returns the response if that is a success.
func (p *platform) open(client *http.Client, request *http.Request) (*http.Response, error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, &remote.Error{Service: Name, Err: fmt.Errorf("%s: %w", routeOf(request), web.RedactError(remote.WithoutURL(err), p.o.Token))}
	}
	if response.StatusCode < http.StatusMultipleChoices {
		return response, nil
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxProblem)) // what was read of it may say enough
	return nil, failure(routeOf(request), response, web.Redact(body, p.o.Token))
}

func routeOf(request *http.Request) string { return request.Method + " " + request.URL.Path }

const maxProblem = 64 << 10 // bytes of an answer that reports a failure

// problem is the server's answer to a call that failed.
type problem struct {
	ID      string `json:"id"` // such as api.context.permissions.app_error
	Message string `json:"message"`
}

// Error implements error.
func (p problem) Error() string {
	return strings.ToValidUTF8(cmp.Or(p.Message, "no further explanation"), "") + " (" + p.ID + ")"
}

// says reports whether the server refused a call with an ID that has one of these parts.
func says(err error, parts ...string) bool {
	said, is := errors.AsType[problem](err)
	for _, part := range parts {
		if is && strings.Contains(said.ID, part) {
			return true
		}
	}
	return false
}

// failure returns the error of a response that reports one.
func failure(route string, response *http.Response, body []byte) error {
	var said problem
	ours := json.Unmarshal(body, &said) == nil && said.ID != ""
	failed := remote.Rejected(Name, response, "")
	failed.Err = fmt.Errorf("%s: %w", route, failed.Err)
	if ours {
		failed.Err = fmt.Errorf("%s: %w", route, said)
	}
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests:
		failed.RetryAfter = cmp.Or(failed.RetryAfter, untilReset(response.Header))
	case status == http.StatusUnauthorized && ours:
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, web.OperatorDelay
		failed.Err = fmt.Errorf("%w: %w", failed.Err, errToken)
	case !ours && failed.Permanent(), status < http.StatusBadRequest: // the server answers in JSON: this is a proxy
		failed.Status, failed.RetryAfter = http.StatusBadGateway, max(failed.RetryAfter, web.OperatorDelay)
	}
	return failed
}

// untilReset returns how long a limit lasts: in seconds, or up to a time that is given in them.
func untilReset(header http.Header) time.Duration {
	seconds, _ := strconv.ParseInt(header.Get("X-Ratelimit-Reset"), 10, 64)
	if now := time.Now().Unix(); seconds > now/2 {
		seconds -= now
	}
	return time.Duration(max(0, min(seconds, 3600))) * time.Second
}

// isMissing reports whether an error says that what was asked for does not exist, or is not
// for us.
func isMissing(err error) bool {
	failed := remote.As(err)
	return failed != nil && failed.Permanent()
}

// lasting makes an error one that is worth another attempt: the operator can mend what is
// wrong.
func lasting(err error) error {
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, web.OperatorDelay
	}
	return err
}

// unwritable marks an error of a post that no attempt can make: we were removed from the
// channel, or that or the thread is gone.
func unwritable(err error) error {
	failed := remote.As(err)
	if failed == nil || !failed.Permanent() {
		return err
	}
	gone := failed.Status == http.StatusForbidden || failed.Status == http.StatusNotFound
	if gone || says(err, "root_id", "can_not_post_to_deleted", "restricted_dm") {
		failed.Err = fmt.Errorf("%w: %w", channels.ErrGone, failed.Err)
	}
	return err
}

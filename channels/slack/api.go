package slack

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// callTimeout bounds one call of the Web API.
const callTimeout = 30 * time.Second

// newAPI returns a client that makes one attempt at each call: trying again is the
// engine's business.
func newAPI(o Options) *slack.Client {
	options := []slack.Option{
		slack.OptionHTTPClient(&http.Client{Timeout: callTimeout, Transport: bearer{http.DefaultTransport}}),
		slack.OptionAppLevelToken(o.AppToken),
	}
	if o.APIURL != "" {
		options = append(options, slack.OptionAPIURL(strings.TrimSuffix(o.APIURL, "/")+"/"))
	}
	return slack.New(o.BotToken, options...)
}

// bearer puts the token of a call's form into the Authorization header too: Slack
// takes either, some proxies and emulators only the header.
type bearer struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	return b.next.RoundTrip(r)
}

// gone are Slack's errors that say that a chat cannot be written to any more.
var gone = map[string]bool{
	"channel_not_found": true, "is_archived": true, "not_in_channel": true, "channel_is_archived": true,
	"user_not_found": true, "cannot_dm_bot": true, "user_disabled": true, "thread_not_found": true,
	"restricted_action": true, "restricted_action_read_only_channel": true, "restricted_action_thread_locked": true,
}

// failure is err as a [remote.Error].
func failure(err error) error {
	failed := &remote.Error{Service: Name, Err: err}
	if limited, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		failed.Status, failed.RetryAfter = http.StatusTooManyRequests, limited.RetryAfter
		return failed
	}
	if status, ok := errors.AsType[slack.StatusCodeError](err); ok {
		failed.Status = status.Code
		return failed
	}
	if answer, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return answered(failed, answer.Err)
	}
	return failed
}

// answered adds to a failed call what Slack's error means.
func answered(failed *remote.Error, code string) error {
	failed.Status = http.StatusBadRequest
	if gone[code] {
		failed.Err = fmt.Errorf("%w: %s", channels.ErrGone, code)
	}
	return failed
}

// splitScopes reads the header that lists a token's scopes.
func splitScopes(header string) []string {
	return strings.FieldsFunc(header, func(r rune) bool { return r == ',' || r == ' ' })
}

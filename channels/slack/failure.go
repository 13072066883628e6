package slack

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// operatorDelay is the delay of the next attempt while the operator has to fix the app.
const operatorDelay = 30 * time.Second

// gone are Slack's errors for a chat that can no longer be written to.
var gone = map[string]bool{
	"channel_not_found": true, "is_archived": true, "not_in_channel": true, "channel_is_archived": true,
	"user_not_found": true, "cannot_dm_bot": true, "user_disabled": true, "thread_not_found": true,
	"restricted_action": true, "restricted_action_read_only_channel": true, "restricted_action_thread_locked": true,
	"restricted_action_non_threadable_channel": true, "messages_tab_disabled": true,
}

// misconfigured are Slack's errors that the operator can fix, with a hint. Replies wait
// until they are fixed.
var misconfigured = map[string]string{
	"not_authed":              "channels.slack.bot_token is not set",
	"invalid_auth":            "the bot token is not valid",
	"token_revoked":           "the bot token was revoked: install the app again",
	"token_expired":           "the bot token has expired",
	"account_inactive":        "the app was removed from the workspace: install it again",
	"missing_scope":           "the app lacks a scope: add it and install the app again",
	"no_permission":           "the app lacks a permission: install it again",
	"not_allowed_token_type":  "the bot token must be the one that begins with xoxb-",
	"org_login_required":      "the workspace is being moved",
	"team_access_not_granted": "the app is not installed in this workspace",
	"ekm_access_denied":       "an administrator suspended access to the workspace",
	"access_denied":           "the app has no access",
}

// unavailable are Slack's temporary errors.
var unavailable = map[string]bool{
	"internal_error": true, "fatal_error": true, "service_unavailable": true, "request_timeout": true,
	"team_added_to_org": true, "accesslimited": true, "external_channel_migrating": true, "streaming_state_conflict": true,
}

// limited are Slack's errors that mean status 429.
var limited = map[string]bool{"ratelimited": true, "rate_limited": true, "message_limit_exceeded": true}

// failure returns err as a [remote.Error] that does not repeat a token.
func (p *platform) failure(err error) error {
	failed := remote.As(failure(err))
	failed.Err = p.redact(failed.Err)
	return failed
}

// redact returns an error that does not repeat a token.
func (p *platform) redact(err error) error { return web.RedactError(err, p.o.BotToken, p.o.AppToken) }

// failure returns err as a [remote.Error].
func failure(err error) error {
	failed := &remote.Error{Service: Name, Err: err}
	if wait, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		failed.Status, failed.RetryAfter = http.StatusTooManyRequests, wait.RetryAfter
		return failed
	}
	if status, ok := errors.AsType[slack.StatusCodeError](err); ok {
		failed.Status = status.Code
		if failed.Permanent() { // Slack itself refuses with status 200: this is a proxy
			failed.Status, failed.RetryAfter = http.StatusBadGateway, operatorDelay
		}
		return failed
	}
	if answer, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return classify(failed, answer)
	}
	return failed
}

// classify adds to a failed call what Slack's error means. An unknown one is permanent.
func classify(failed *remote.Error, answer slack.SlackErrorResponse) error {
	hint, operator := misconfigured[answer.Err]
	switch {
	case gone[answer.Err]:
		failed.Status, failed.Err = http.StatusBadRequest, fmt.Errorf("%w: %w", channels.ErrGone, failed.Err)
	case limited[answer.Err]:
		failed.Status = http.StatusTooManyRequests
	case unavailable[answer.Err]:
		failed.Status = http.StatusServiceUnavailable
	case operator:
		if answer.Needed != "" {
			hint = "the app lacks the scope " + answer.Needed + ": add it and install the app again"
		}
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, operatorDelay
		failed.Err = fmt.Errorf("%w: %s", failed.Err, hint)
	default:
		failed.Status = http.StatusBadRequest
	}
	return failed
}

// code returns the error code in Slack's answer; empty if there is none.
func code(err error) string {
	if answer, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return answer.Err
	}
	return ""
}

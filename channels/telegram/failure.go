package telegram

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// maxRetryAfter bounds how long Telegram may ask to wait.
const maxRetryAfter = 24 * time.Hour

// refusal is Telegram's answer to a call that it did not carry out.
type refusal struct {
	code      int
	text      string
	migrateTo int64 // the ID that the group has now; 0: it did not change
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

// says reports whether an error is a refusal with one of these texts.
func says(err error, texts ...string) bool {
	r, is := errors.AsType[*refusal](err)
	if !is {
		return false
	}
	for _, text := range texts {
		if strings.Contains(strings.ToLower(r.text), text) {
			return true
		}
	}
	return false
}

// Telegram's texts for what another attempt does not change.
var (
	// goneTexts: the chat cannot be written to.
	goneTexts = []string{
		"chat not found", "peer_id_invalid", "group chat was deactivated", "group chat was deleted", "chat_write_forbidden",
		"not enough rights to send", "have no rights to send", "need administrator rights", "chat_restricted", "chat_send_",
		"message thread not found", "topic_closed", "topic_deleted", "topic_id_invalid", "user not found",
	}
	unparsable = []string{"can't parse entities", "can't parse message text", "can't find end of the entity", "unsupported start tag"}
	unmodified = []string{"message is not modified"}
	// lostTexts: the message cannot be edited any more.
	lostTexts = []string{
		"message to edit not found", "message can't be edited", "message_id_invalid", "message identifier is not specified",
		"there is no text in the message to edit", "message not found",
	}
	// undeletable: the message is not there, or stays for good.
	undeletable = []string{"message to delete not found", "message can't be deleted", "message_id_invalid", "message not found"}
)

// The errors of two receivers for one bot, with what to do.
var (
	errTwoPollers = errors.New("another process receives with the same token, and each message reaches only one of them: " +
		"stop the other, or give this one a bot of its own (/newbot at @BotFather)")
	errWebhookSet = errors.New("a webhook is set for this bot")
)

// refused returns the error of a call that Telegram refused.
func (c client) refused(method string, status int, a answer) error {
	r := &refusal{code: cmp.Or(a.Code, status), text: c.redact(a.Description), migrateTo: a.Parameters.MigrateTo}
	failed := &remote.Error{Service: Name, Status: r.code, Err: fmt.Errorf("%s: %w", method, r)}
	switch {
	case r.code == http.StatusTooManyRequests:
		failed.RetryAfter = min(time.Duration(a.Parameters.RetryAfter)*time.Second, maxRetryAfter)
	case r.code == http.StatusUnauthorized, r.code == http.StatusNotFound: // nothing else has these codes
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, web.OperatorDelay
		failed.Err = fmt.Errorf("%w; check channels.telegram.token", failed.Err)
	case r.code == http.StatusConflict && strings.Contains(r.text, "webhook"):
		failed.Err = fmt.Errorf("%w: %w", errWebhookSet, failed.Err)
	case r.code == http.StatusConflict:
		failed.Err = fmt.Errorf("%w (%w)", errTwoPollers, failed.Err)
	case r.code == http.StatusForbidden, says(r, goneTexts...):
		failed.Err = fmt.Errorf("%w: %w", channels.ErrGone, failed.Err)
	case r.code < http.StatusBadRequest:
		failed.Status = http.StatusBadGateway
	}
	return failed
}

// refusedToken reports whether Telegram refused a call because of the token.
func refusedToken(err error) bool {
	r, is := errors.AsType[*refusal](err)
	return is && (r.code == http.StatusUnauthorized || r.code == http.StatusNotFound)
}

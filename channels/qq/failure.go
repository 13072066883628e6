package qq

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// QQ's error codes, from its documentation and from reports of its users.
const (
	codeDuplicate = 40054005 // msg_id and msg_seq were used before
	codeNoLink    = 40054010 // links have to be registered
	codeNoURL     = 304003   // the same
)

// later are the codes of messages that the chat takes only after somebody writes there.
var later = map[int]string{
	22009:    "too many messages",
	304027:   "the message that is answered has expired",
	304103:   "the message that is answered has expired",
	40034005: "the message that is answered has expired",
	40034024: "the message that is answered is no longer valid",
	40034100: "too many messages that are not replies",
	40034102: "qq takes only replies",
	40034105: "qq takes only replies",
	40034128: "the time for replies is over, or there were five",
	40054002: "the bot is muted",
	40054004: "the person removed the bot",
	40054013: "the person does not want messages of the bot",
}

// gone are the codes of chats that are closed to us.
var gone = map[int]bool{40034101: true, 40054003: true, 1100104: true}

// pending are the codes of messages that QQ takes and reviews first.
var pending = map[int]bool{304023: true, 304024: true}

// limited are the codes that mean status 429.
var limited = map[int]bool{20028: true, 1100100: true, 1100308: true}

// unavailable are the codes of temporary errors.
var unavailable = map[int]bool{
	11242: true, 11252: true, 11263: true, 11281: true, 304082: true, 304083: true, 40034004: true,
	50055001: true, 50055002: true, 50055006: true, 1100300: true, 40054016: true,
}

// token codes mean that another access token is needed.
var tokenCodes = map[int]bool{11241: true, 11243: true, 11244: true}

// refusal is an answer that reports an error.
type refusal struct {
	status  int
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("%s (code %d)", r.Message, r.Code) }

// readRefusal returns the error that an answer reports; nil if none.
func readRefusal(a answer) *refusal {
	r := &refusal{status: a.status}
	_ = json.Unmarshal(a.body, r) // then only the status counts
	if a.status >= 200 && a.status < 300 && (r.Code == 0 || pending[r.Code]) {
		return nil
	}
	if r.Message == "" {
		r.Message = http.StatusText(a.status)
	}
	return r
}

func (r *refusal) isAboutToken() bool {
	return r.status == http.StatusUnauthorized || tokenCodes[r.Code]
}

// failure returns the refusal of a call as a [remote.Error]. An unknown code is permanent.
func (r *refusal) failure(name string, a answer) error {
	failed := &remote.Error{
		Service: Name, Status: r.status, RetryAfter: remote.RetryAfter(a.header, time.Now()), Err: fmt.Errorf("%s: %w", name, r),
	}
	why := later[r.Code]
	switch {
	case why != "":
		failed.Status, failed.Err = http.StatusBadRequest, fmt.Errorf("%w: %s: %w", channels.ErrUndeliverableNow, why, failed.Err)
	case gone[r.Code]:
		failed.Status, failed.Err = http.StatusBadRequest, fmt.Errorf("%w: %w", channels.ErrGone, failed.Err)
	case limited[r.Code]:
		failed.Status = http.StatusTooManyRequests
	case unavailable[r.Code], r.isAboutToken():
		failed.Status = http.StatusServiceUnavailable
	case r.status < 400:
		failed.Status = http.StatusBadRequest
	case r.Code == 0 && failed.Permanent(): // a proxy's: QQ has codes
		failed.Status, failed.RetryAfter = http.StatusBadGateway, operatorDelay
	}
	return failed
}

// code returns QQ's error code; 0 if there is none.
func code(err error) int {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.Code
	}
	return 0
}

// undeliverable returns the error of a message that is not even tried.
func undeliverable(why string) error {
	return &remote.Error{Service: Name, Status: http.StatusBadRequest, Err: fmt.Errorf("%w: %s", channels.ErrUndeliverableNow, why)}
}

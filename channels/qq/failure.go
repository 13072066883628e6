package qq

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// QQ's error codes, from its documentation and from reports of its users.
const (
	codeDuplicate = 40054005 // msg_id and msg_seq were used before
	codeNoLink    = 40054010 // links have to be registered
	codeNoURL     = 304003   // the same
)

// pending are the codes of messages that QQ takes and reviews first.
var pending = map[int]bool{304023: true, 304024: true}

var codes = web.Codes{
	Later: map[int]string{
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
	},
	Gone:    map[int]bool{40034101: true, 40054003: true, 1100104: true},
	Limited: map[int]bool{20028: true, 1100100: true, 1100308: true},
	Unavailable: map[int]bool{
		11242: true, 11252: true, 11263: true, 11281: true, 304082: true, 304083: true, 40034004: true,
		50055001: true, 50055002: true, 50055006: true, 1100300: true, 40054016: true,
	},
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
func (r *refusal) Error() string {
	return fmt.Sprintf("%s (code %d)", cmp.Or(r.Message, "refused"), r.Code)
}

// readRefusal returns the error that an answer reports; nil if none.
func readRefusal(a *web.Answer) *refusal {
	r := &refusal{status: a.Status}
	_ = json.Unmarshal(a.Body, r) // then only the status counts
	if a.OK() && (r.Code == 0 || pending[r.Code]) {
		return nil
	}
	return r
}

func (r *refusal) isAboutToken() bool {
	return r.status == http.StatusUnauthorized || tokenCodes[r.Code]
}

// failure returns the refusal of a call as a [remote.Error].
func (r *refusal) failure(a *web.Answer) error {
	if r.Code == 0 && !r.isAboutToken() { // a proxy's: QQ has codes
		return a.Refused(nil)
	}
	failed := a.Refused(r)
	if codes.Classify(failed, r.Code); r.isAboutToken() {
		failed.Status = http.StatusServiceUnavailable
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

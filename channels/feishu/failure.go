package feishu

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/web"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// The platform's error codes that more than one place asks for.
const (
	codeNoScope     = 99991672
	codeRecalled    = 230011
	codeDeleted     = 230110
	codeBadCard     = 230099
	codeNoAuthority = 41050 // the person is outside of the app's contact range
)

// The meanings of the platform's other error codes.
var (
	badToken = map[int]bool{99991661: true, 99991663: true, 99991664: true, 99991665: true, 99991668: true, 99991671: true, 99991677: true}

	// unsayable: the content is refused, wherever it is.
	unsayable = map[int]bool{230022: true, 230025: true, 230028: true}
	// undeletable: the message is gone, or can never be deleted.
	undeletable = map[int]bool{codeRecalled: true, codeDeleted: true, 230026: true, 230054: true, 230001: true}
)

// codes are the meanings of those that are about the call, the chat or the app.
var codes = web.Codes{
	Gone: map[int]bool{
		230002: true, 230013: true, 230018: true, 230019: true, 230029: true, 230034: true, 230035: true, 230038: true, 230053: true,
		232006: true, 232009: true, 232010: true, 232011: true,
	},
	Limited: map[int]bool{99991400: true, 230020: true, 11232: true, 11233: true},
	// 230049 means that the same uuid is being sent.
	Unavailable: map[int]bool{230049: true, 2200: true, 1000040343: true, 1000040350: true, 99991500: true},
	Operator: map[int]string{
		403: "the app is not allowed to connect", 514: "the app ID or secret is not valid",
		10003: "the app ID or secret is not valid", 10014: "the app secret is not valid", 10012: "the app is not available in this tenant",
		99991543: "the app ID or secret is not valid", 99991662: "the app is disabled", 99991673: "the app is disabled",
		99991401: "the app has an IP allow list that lacks this machine", 99991403: "the tenant's quota of API calls is used up",
		codeNoScope: "the app lacks a permission: add it and publish a new version", 99991679: "the app lacks a permission: add it and publish a new version",
		230027: "the app lacks a permission: add it and publish a new version", 230006: "the app has no bot: add the bot capability and publish a new version",
	},
}

// refused is the platform's answer to a call that it did not carry out.
type refused struct {
	Code    int    `json:"code"`
	Message string `json:"msg"`
}

// Error implements error.
func (r refused) Error() string { return fmt.Sprintf("%s (%d)", cmp.Or(r.Message, "refused"), r.Code) }

// code returns the code in the platform's answer; 0 if there is none.
func code(err error) int {
	answer, _ := errors.AsType[refused](err)
	return answer.Code
}

// refusal returns the error that an answer reports. One with an unknown code is permanent,
// unless the status says otherwise.
func refusal(a *web.Answer) error {
	var said refused
	_ = json.Unmarshal(a.Body, &said) // what is not the platform's has no code
	if said.Code == 0 {
		if a.OK() {
			return nil
		}
		return a.Refused(nil)
	}
	failed := a.Refused(said)
	failed.RetryAfter = retryAfter(a.Header)
	switch {
	case a.Status == http.StatusTooManyRequests:
	case badToken[said.Code]:
		failed.Status = http.StatusServiceUnavailable
	default:
		codes.Classify(failed, said.Code)
	}
	return failed
}

// retryAfter returns how long the gateway asks to wait.
func retryAfter(header http.Header) time.Duration {
	if seconds, err := strconv.Atoi(header.Get("X-Ogw-Ratelimit-Reset")); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 24*3600)) * time.Second
	}
	return remote.RetryAfter(header, time.Now())
}

// lacking returns err, as [chat.Unavailable] if another attempt fails until someone changes
// something.
func lacking(err error) error {
	if hint := codes.Operator[code(err)]; hint != "" {
		return errors.Join(chat.Unavailable(hint), err)
	}
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		return errors.Join(chat.Unavailable(failed.Err.Error()), err)
	}
	return err
}

package feishu

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// operatorDelay is the delay of the next attempt while the operator has to fix the app.
const operatorDelay = 30 * time.Second

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

	// gone: the chat can no longer be written to.
	gone = map[int]bool{
		230002: true, 230013: true, 230018: true, 230019: true, 230029: true, 230034: true, 230035: true, 230038: true, 230053: true,
		232006: true, 232009: true, 232010: true, 232011: true,
	}
	// limited: status 429.
	limited = map[int]bool{99991400: true, 230020: true, 11232: true, 11233: true}
	// unavailable: temporary. 230049 means that the same uuid is being sent.
	unavailable = map[int]bool{230049: true, 2200: true, 1000040343: true, 1000040350: true, 99991500: true}

	// misconfigured: the operator can fix it. Replies wait until then.
	misconfigured = map[int]string{
		403: "the app is not allowed to connect", 514: "the app ID or secret is not valid",
		10003: "the app ID or secret is not valid", 10014: "the app secret is not valid", 10012: "the app is not available in this tenant",
		99991543: "the app ID or secret is not valid", 99991662: "the app is disabled", 99991673: "the app is disabled",
		99991401: "the app has an IP allow list that lacks this machine", 99991403: "the tenant's quota of API calls is used up",
		codeNoScope: "the app lacks a permission: add it and publish a new version", 99991679: "the app lacks a permission: add it and publish a new version",
		230027: "the app lacks a permission: add it and publish a new version", 230006: "the app has no bot: add the bot capability and publish a new version",
	}
	// unsayable: the content is refused, wherever it is.
	unsayable = map[int]bool{230022: true, 230025: true, 230028: true}
	// undeletable: the message is gone, or can never be deleted.
	undeletable = map[int]bool{codeRecalled: true, codeDeleted: true, 230026: true, 230054: true, 230001: true}
)

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

// maxRefusal bounds what is read of an answer to find its code. Files and long lists, which
// have none or 0, may be longer.
const maxRefusal = 64 << 10

// refusal returns the error of a response that reports one. Otherwise the body can still be
// read from its beginning.
func (c *client) refusal(name string, response *http.Response) error {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if response.StatusCode == http.StatusOK && (kind != "application/json" || name == methodDownload) { // a file may be JSON
		return nil
	}
	head, err := io.ReadAll(io.LimitReader(response.Body, maxRefusal))
	if err != nil {
		return &remote.Error{Service: c.service, Err: fmt.Errorf("%s: read the answer: %w", name, err)}
	}
	var answer refused
	whole := json.Unmarshal(head, &answer) == nil
	if response.StatusCode == http.StatusOK && (answer.Code == 0 || !whole) {
		response.Body = rest{io.MultiReader(bytes.NewReader(head), response.Body), response.Body}
		return nil
	}
	failed := &remote.Error{Service: c.service, Status: response.StatusCode, RetryAfter: retryAfter(response.Header), Err: fmt.Errorf("%s: %w", name, answer)}
	if answer.Code == 0 {
		failed.Err = fmt.Errorf("%s: %s", name, http.StatusText(response.StatusCode))
		if failed.Permanent() { // the platform always gives a code: this is a proxy
			failed.Status, failed.RetryAfter = http.StatusBadGateway, operatorDelay
		}
		return failed
	}
	classify(failed, answer.Code)
	return failed
}

// rest is a body of which some was read.
type rest struct {
	io.Reader
	io.Closer
}

// classify adds to a failed call what its code means. An unknown one is permanent, unless
// the status says otherwise.
func classify(failed *remote.Error, code int) {
	hint := misconfigured[code]
	switch {
	case failed.Status == http.StatusTooManyRequests || limited[code]:
		failed.Status = http.StatusTooManyRequests
	case gone[code]:
		failed.Status, failed.Err = http.StatusBadRequest, fmt.Errorf("%w: %w", channels.ErrGone, failed.Err)
	case unavailable[code] || badToken[code]:
		failed.Status = http.StatusServiceUnavailable
	case hint != "":
		failed.Status, failed.RetryAfter = http.StatusServiceUnavailable, operatorDelay
		failed.Err = fmt.Errorf("%w: %s", failed.Err, hint)
	case failed.Status < http.StatusInternalServerError:
		failed.Status = http.StatusBadRequest
	}
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
	if hint := misconfigured[code(err)]; hint != "" {
		return errors.Join(chat.Unavailable(hint), err)
	}
	if failed := remote.As(err); failed != nil && failed.Permanent() {
		return errors.Join(chat.Unavailable(failed.Err.Error()), err)
	}
	return err
}

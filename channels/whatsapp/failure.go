package whatsapp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// operatorDelay is the delay of the next attempt while the operator has to fix something.
	operatorDelay = 30 * time.Second
	// pairDelay is the pause between two messages to a person that WhatsApp wants after a burst.
	pairDelay = 6 * time.Second
)

// Meta's error codes.
const (
	codeWindow   = 131047 // more than 24 hours since the person wrote
	codePairRate = 131056 // too many messages to one person
)

// limited are the codes that mean status 429.
var limited = map[int]bool{4: true, 80007: true, 130429: true, 131048: true, codePairRate: true, 133016: true}

// gone are the codes of people who cannot be written to.
var gone = map[int]bool{131026: true, 131021: true, 131030: true}

// unavailable are the codes of temporary errors.
var unavailable = map[int]bool{1: true, 2: true, 131000: true, 131016: true, 131057: true, 133004: true}

// misconfigured are the codes of what the operator can fix.
var misconfigured = map[int]string{
	0: "the access token is not valid", 3: "the app lacks a permission", 10: "the access token lacks whatsapp_business_messaging",
	190: "the access token has expired or was revoked", 368: "Meta restricted the account for a violation of its policy",
	131031: "Meta locked the account", 131042: "the account's payment method has to be fixed", 131045: "the number has to be registered",
	133010: "the number has to be registered",
}

// refusal is an answer that reports an error.
type refusal struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Details string `json:"details"`
	} `json:"error_data"`
}

// Error implements error.
func (r *refusal) Error() string {
	return fmt.Sprintf("%s (code %d)", cmp.Or(r.Data.Details, r.Message), r.Code)
}

// readRefusal returns the error that an answer reports. An unknown one is permanent if its
// status is.
func readRefusal(response *http.Response, body []byte) error {
	var got struct {
		Error *refusal `json:"error"`
	}
	failed := &remote.Error{Service: Name, Status: response.StatusCode, RetryAfter: remote.RetryAfter(response.Header, time.Now())}
	if json.Unmarshal(body, &got) != nil || got.Error == nil {
		failed.Err = errors.New(cmp.Or(http.StatusText(response.StatusCode), "no answer of WhatsApp's"))
		if failed.Permanent() { // a proxy's: Meta has codes
			failed.Status, failed.RetryAfter = http.StatusBadGateway, operatorDelay
		}
		return failed
	}
	code := got.Error.Code
	failed.Err = got.Error
	switch hint := misconfigured[code]; {
	case code == codeWindow:
		failed.Status, failed.Err = http.StatusBadRequest, fmt.Errorf("%w: %w", channels.ErrUndeliverableNow, got.Error)
	case gone[code]:
		failed.Status, failed.Err = http.StatusBadRequest, fmt.Errorf("%w: %w", channels.ErrGone, got.Error)
	case limited[code]:
		failed.Status = http.StatusTooManyRequests
		if code == codePairRate {
			failed.RetryAfter = max(failed.RetryAfter, pairDelay)
		}
	case unavailable[code]:
		failed.Status = http.StatusServiceUnavailable
	case hint != "":
		return operator(fmt.Errorf("%w: %s", got.Error, hint))
	case code >= 200 && code <= 299:
		return operator(fmt.Errorf("%w: the access token lacks a permission", got.Error))
	}
	return failed
}

// operator returns the error of a call that works once the operator has fixed something.
func operator(err error) error {
	return &remote.Error{Service: Name, Status: http.StatusServiceUnavailable, RetryAfter: operatorDelay, Err: err}
}

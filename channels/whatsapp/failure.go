package whatsapp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat/web"
)

// pairDelay is the pause between two messages to a person that WhatsApp wants after a burst.
const pairDelay = 6 * time.Second

// Meta's error codes.
const (
	codeWindow   = 131047 // more than 24 hours since the person wrote
	codePairRate = 131056 // too many messages to one person
)

var codes = web.Codes{
	Later:       map[int]string{codeWindow: "more than 24 hours since the person wrote"},
	Gone:        map[int]bool{131026: true, 131021: true, 131030: true},
	Limited:     map[int]bool{4: true, 80007: true, 130429: true, 131048: true, codePairRate: true, 133016: true},
	Unavailable: map[int]bool{1: true, 2: true, 131000: true, 131016: true, 131057: true, 133004: true},
	Operator: map[int]string{
		0: "the access token is not valid", 3: "the app lacks a permission", 10: "the access token lacks whatsapp_business_messaging",
		190: "the access token has expired or was revoked", 368: "Meta restricted the account for a violation of its policy",
		131031: "Meta locked the account", 131042: "the account's payment method has to be fixed", 131045: "the number has to be registered",
		133010: "the number has to be registered",
	},
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

// readRefusal returns the error that an answer reports.
func readRefusal(a *web.Answer) error {
	var got struct {
		Error *refusal `json:"error"`
	}
	if json.Unmarshal(a.Body, &got) != nil || got.Error == nil {
		return a.Refused(nil) // a proxy's: Meta has codes
	}
	code := got.Error.Code
	if code >= 200 && code <= 299 {
		code = 3 // one permission each
	}
	failed := a.Refused(got.Error)
	if codes.Classify(failed, code); code == codePairRate {
		failed.RetryAfter = max(failed.RetryAfter, pairDelay)
	}
	return failed
}

package web

import (
	"fmt"
	"net/http"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Codes are what the error codes of a platform mean.
type Codes struct {
	Later       map[int]string // the chat takes nothing until somebody writes there, and why
	Gone        map[int]bool   // the chat is closed to us for good
	Limited     map[int]bool   // too many calls
	Unavailable map[int]bool   // temporary
	Operator    map[int]string // something is to be fixed, and what
}

// Classify adds the meaning of a code to a refused call. One with an unknown code is tried
// again only if its status says so.
func (c Codes) Classify(failed *remote.Error, code int) {
	switch {
	case c.Later[code] != "":
		failed.Status, failed.Err = http.StatusBadRequest, fmt.Errorf("%w: %s: %w", channels.ErrUndeliverableNow, c.Later[code], failed.Err)
	case c.Gone[code]:
		failed.Status, failed.Err = http.StatusBadRequest, fmt.Errorf("%w: %w", channels.ErrGone, failed.Err)
	case c.Limited[code]:
		failed.Status = http.StatusTooManyRequests
	case c.Unavailable[code]:
		failed.Status = http.StatusServiceUnavailable
	case c.Operator[code] != "":
		failed.Status, failed.RetryAfter, failed.Err = http.StatusServiceUnavailable, OperatorDelay, fmt.Errorf("%w: %s", failed.Err, c.Operator[code])
	case failed.Status < http.StatusBadRequest:
		failed.Status = http.StatusBadRequest
	}
}

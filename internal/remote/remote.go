// Package remote has the one error type for failed calls to a service over the
// network: a model provider, a chat platform, a search API.
package remote

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Error says that a call to a service failed, and what the service said about
// it. Callers find it with [errors.As] and decide on [Error.Permanent].
type Error struct {
	Service    string        // who was called, as the user knows it: "openai", "slack"
	Status     int           // HTTP status; 0 when no response arrived
	RetryAfter time.Duration // how long the service asked to wait; 0 when it did not say
	Err        error         // what went wrong
}

// Error implements error.
func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("%s: %v", e.Service, e.Err)
	}
	return fmt.Sprintf("%s: status %d: %v", e.Service, e.Status, e.Err)
}

// Unwrap returns what went wrong.
func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether another attempt cannot help: the service answered
// with a 4xx other than 408 (timeout), 409 (conflict) and 429 (too many requests).
func (e *Error) Permanent() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return e.Status >= 400 && e.Status < 500
}

// As returns the [Error] in err's chain, or nil.
func As(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

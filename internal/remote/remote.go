// Package remote is the error type of failed calls to a service over the network: a
// model provider, a chat platform, a search API.
package remote

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Error is a failed call to a service. Callers find it with [As] and check
// [Error.Permanent].
type Error struct {
	Service    string        // the service, as the user knows it: "openai", "slack"
	Status     int           // HTTP status; 0 without a response
	RetryAfter time.Duration // how long the service asked to wait; 0 if it did not
	Err        error         // cause
}

// Error implements error.
func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("%s: %v", e.Service, e.Err)
	}
	return fmt.Sprintf("%s: status %d: %v", e.Service, e.Status, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether a retry is useless: the status is 4xx other than 408
// (timeout), 409 (conflict) and 429 (too many requests).
func (e *Error) Permanent() bool {
	switch e.Status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return e.Status >= 400 && e.Status < 500
}

// Rejected returns the error of a response that reports one. detail is what the service
// says; it may be empty.
func Rejected(service string, response *http.Response, detail string) *Error {
	return &Error{
		Service: service, Status: response.StatusCode, RetryAfter: RetryAfter(response.Header, time.Now()),
		Err: errors.New(cmp.Or(detail, http.StatusText(response.StatusCode), "no further explanation")),
	}
}

// WithoutURL returns an error of [net/http] without the URL, which may be long or
// contain a key.
func WithoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// As returns the [Error] in err's chain, or nil.
func As(err error) *Error {
	e, _ := errors.AsType[*Error](err)
	return e
}

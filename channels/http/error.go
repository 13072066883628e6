package http

import (
	"context"
	"encoding/json"
	"errors"
	nethttp "net/http"

	"github.com/holdfast-ai/holdfast/channels"
)

// Types of errors, OpenAI's where it has one.
const (
	typeInvalid        = "invalid_request_error"
	typeAuthentication = "authentication_error"
	typePermission     = "permission_error"
	typeNotFound       = "not_found_error"
	typeConflict       = "conflict_error"
	typeTooLarge       = "request_too_large"
	typeUnavailable    = "unavailable_error"
	typeInterrupted    = "interrupted_error"
	typeTurnFailed     = "turn_failed"
)

// errInterrupted says that a wait ended before the message did.
var errInterrupted = errors.New("the wait was interrupted")

// apiError is what a client is told.
type apiError struct {
	status int
	detail ErrorDetail
}

// Error implements error.
func (e *apiError) Error() string { return e.detail.Message }

func invalid(param, message string) *apiError {
	return &apiError{status: nethttp.StatusBadRequest, detail: ErrorDetail{Type: typeInvalid, Param: param, Message: message}}
}

func forbidden(message string) *apiError {
	return &apiError{status: nethttp.StatusForbidden, detail: ErrorDetail{Type: typePermission, Message: message}}
}

func notFound(message string) *apiError {
	return &apiError{status: nethttp.StatusNotFound, detail: ErrorDetail{Type: typeNotFound, Message: message}}
}

// interrupted tells of a message that was accepted and goes on without its client.
func interrupted(id string) *apiError {
	return &apiError{status: nethttp.StatusServiceUnavailable, detail: ErrorDetail{
		Type:    typeInterrupted,
		Message: "the wait was interrupted, the message was not: its answer will be at /v1/messages/" + id + ", or send it again with the same ID",
	}}
}

// asAPIError decides what a client is told of an error of the backend.
func asAPIError(err error) *apiError {
	if known, ok := errors.AsType[*apiError](err); ok {
		return known
	}
	switch {
	case errors.Is(err, channels.ErrConflict):
		return &apiError{status: nethttp.StatusConflict, detail: ErrorDetail{
			Type: typeConflict, Param: "id",
			Message: channels.ErrConflict.Error() + ": use a new ID for a new text or session",
		}}
	case errors.Is(err, channels.ErrNotAllowed):
		return forbidden(channels.ErrNotAllowed.Error())
	case errors.Is(err, channels.ErrNotFound):
		return notFound("there is no such message or session")
	}
	return &apiError{status: nethttp.StatusServiceUnavailable, detail: ErrorDetail{
		Type:    typeUnavailable,
		Message: err.Error() + ": try again, with the same ID if it was a message",
	}}
}

// handlerFunc is a handler that leaves it to others to tell of its error. It
// must not have begun to answer when it returns one.
type handlerFunc func(w nethttp.ResponseWriter, r *nethttp.Request) error

// serve answers with the error of a handler, in JSON, and logs it.
func (a *api) serve(h handlerFunc) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) {
		err := h(w, r)
		if err == nil {
			return
		}
		told := asAPIError(err)
		switch {
		case told.detail.Type == typeUnavailable && !errors.Is(err, context.Canceled):
			a.log.ErrorContext(r.Context(), "request not served", "path", r.URL.Path, "err", err)
			w.Header().Set("Retry-After", "1")
		case told.detail.Type == typeAuthentication || told.detail.Type == typePermission:
			a.log.WarnContext(r.Context(), "request refused", "path", r.URL.Path, "remote", r.RemoteAddr, "err", err)
		}
		writeJSON(w, told.status, ErrorBody{Error: told.detail})
	}
}

// writeJSON answers. A client that is gone is nobody to tell an error.
func writeJSON(w nethttp.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

package http

import (
	"encoding/json"
	"errors"
	nethttp "net/http"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Error types. Those that OpenAI's API has are its own.
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

// errInterrupted is returned when a wait ends before the message has.
var errInterrupted = errors.New("the wait was interrupted")

// apiError is an error as the client sees it.
type apiError struct {
	status int
	detail ErrorDetail
}

// Error implements error.
func (e *apiError) Error() string { return e.detail.Message }

func newError(status int, kind, param, message string) *apiError {
	return &apiError{status, ErrorDetail{Type: kind, Param: param, Message: message}}
}

func invalid(param, message string) *apiError {
	return newError(nethttp.StatusBadRequest, typeInvalid, param, message)
}

func forbidden(message string) *apiError {
	return newError(nethttp.StatusForbidden, typePermission, "", message)
}

func notFound(message string) *apiError {
	return newError(nethttp.StatusNotFound, typeNotFound, "", message)
}

// interrupted reports that the wait for an accepted message ended early.
func interrupted(id string) *apiError {
	return newError(nethttp.StatusServiceUnavailable, typeInterrupted, "",
		"the wait was interrupted, but the message is still being processed: get its reply from /v1/messages/"+id+", or send it again with the same ID")
}

// asAPIError translates an error of the backend for the client.
func asAPIError(err error) *apiError {
	if known, ok := errors.AsType[*apiError](err); ok {
		return known
	}
	switch {
	case errors.Is(err, domain.ErrConflict):
		return newError(nethttp.StatusConflict, typeConflict, "id", domain.ErrConflict.Error()+": use a new ID for a new text or session")
	case errors.Is(err, domain.ErrNotFound):
		return notFound("message or session not found")
	}
	return newError(nethttp.StatusServiceUnavailable, typeUnavailable, "", err.Error()+": try again; use the same ID for a message")
}

// handlerFunc is a handler that may return an error, as long as it has not written a
// response yet.
type handlerFunc func(w nethttp.ResponseWriter, r *nethttp.Request) error

// writeJSON writes a response. It ignores errors, since the client is gone then.
func writeJSON(w nethttp.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

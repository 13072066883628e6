package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

const (
	bodyFactor  = 8 // JSON escapes make text up to 6 times as long
	bodyTimeout = time.Minute
	drainLimit  = 64 << 20
	nameLimit   = 256 // bytes in an ID or a session's name
)

// read returns the body of a request. It reads past the limit before it rejects a body,
// since most clients look for an answer only after they have sent everything.
func (a *api) read(w nethttp.ResponseWriter, r *nethttp.Request) ([]byte, error) {
	deadline := nethttp.NewResponseController(w)
	if err := deadline.SetReadDeadline(time.Now().Add(bodyTimeout)); err != nil {
		return nil, fmt.Errorf("set read deadline: %w", err)
	}
	limit := int64(a.options.MaxText) * bodyFactor
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		_, err = io.CopyN(io.Discard, r.Body, drainLimit)
		if err == nil || errors.Is(err, io.EOF) {
			return nil, a.tooLarge()
		}
	}
	if err != nil {
		return nil, invalid("", "cannot read the body: "+err.Error())
	}
	return body, deadline.SetReadDeadline(time.Time{})
}

func (a *api) tooLarge() *apiError {
	return newError(nethttp.StatusRequestEntityTooLarge, typeTooLarge, "text",
		fmt.Sprintf("too large: a text may have up to %d bytes and a request up to %d; put longer text into a file in the workspace and name the file",
			a.options.MaxText, a.options.MaxText*bodyFactor))
}

// decode reads a JSON body. If strict, unknown fields are errors.
func (a *api) decode(w nethttp.ResponseWriter, r *nethttp.Request, into any, strict bool) error {
	body, err := a.read(w, r)
	if err != nil {
		return err
	}
	if !utf8.Valid(body) {
		return invalid("", "the body is not valid UTF-8: send JSON in UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	if strict {
		decoder.DisallowUnknownFields()
	}
	err = decoder.Decode(into)
	if err == nil {
		if _, err = decoder.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return invalid("", "invalid JSON: data after the object")
	}
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && mistyped.Field != "" {
		return invalid(mistyped.Field, fmt.Sprintf("%s must be a %s, not a %s", mistyped.Field, mistyped.Type, mistyped.Value))
	}
	if errors.Is(err, io.EOF) {
		return invalid("", "the body is empty: send a JSON object")
	}
	return invalid("", "invalid JSON: "+strings.TrimPrefix(err.Error(), "json: "))
}

// checkText rejects text that could not be stored or answered.
func (a *api) checkText(param, text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return invalid(param, param+" is empty: set it to the message for the agent")
	case len(text) > a.options.MaxText:
		return a.tooLarge()
	case strings.ContainsRune(text, 0):
		return invalid(param, param+" contains a NUL character: remove it")
	}
	return nil
}

// checkName rejects IDs and names that do not fit into a path or a header.
func checkName(param, name string) error {
	switch {
	case len(name) > nameLimit:
		return invalid(param, fmt.Sprintf("%s has %d bytes; the limit is %d", param, len(name), nameLimit))
	case name == "." || name == "..":
		return invalid(param, param+" may not be . or ..")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return invalid(param, param+" must be UTF-8 without control characters")
	}
	return nil
}

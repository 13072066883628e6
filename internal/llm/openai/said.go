package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sashabaranov/go-openai"
)

// textLimit bounds, in bytes, what is quoted of an answer that says no.
const textLimit = 500

// serviceError is what a service said when it said no.
type serviceError struct {
	status  int
	message string
	codes   []string // its code and its type, where it gave them
}

func (e *serviceError) Error() string { return e.message }

func asServiceError(err error) *serviceError {
	if said, ok := errors.AsType[*serviceError](err); ok {
		return said
	}
	if refused, ok := errors.AsType[*openai.RequestError](err); ok {
		said := parseError(refused.Body)
		said.status = refused.HTTPStatusCode
		return said
	}
	if refused, ok := errors.AsType[*openai.APIError](err); ok {
		said := &serviceError{message: shorten(refused.Message), codes: []string{refused.Type}}
		if refused.Code != nil {
			said.codes = append(said.codes, fmt.Sprint(refused.Code))
		}
		said.status = cmp.Or(refused.HTTPStatusCode, said.impliedStatus())
		return said
	}
	return nil
}

// parseError reads the error in a body, in any of the shapes that providers use:
// {"error": {…}}, {"error": "…"}, {"message": …}, {"detail": …}, one in a list, or text.
func parseError(body []byte) *serviceError {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	inner := body
	if json.Unmarshal(body, &outer) == nil && len(outer.Error) > 0 {
		inner = outer.Error
	}
	var fields map[string]json.RawMessage
	said := &serviceError{}
	if json.Unmarshal(inner, &fields) == nil {
		said.message = cmp.Or(textOf(fields["message"]), textOf(fields["detail"]))
		said.codes = []string{textOf(fields["code"]), textOf(fields["type"])}
	}
	said.message = shorten(cmp.Or(said.message, textOf(inner), "no reason given"))
	said.status = said.impliedStatus()
	return said
}

// textOf returns a JSON string's text, or anything else as it is written.
func textOf(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(bytes.TrimSpace(raw))
}

// impliedStatus is the status of an error that arrives in a stream that began
// well: a number given as its code, else what its type stands for, else 0.
func (e *serviceError) impliedStatus() int {
	for _, code := range e.codes {
		if status, err := strconv.Atoi(code); err == nil && status >= 400 && status < 600 {
			return status
		}
	}
	if slices.Contains(e.codes, "invalid_request_error") {
		return http.StatusBadRequest
	}
	return 0
}

// shorten makes one line of text that is not too long.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > textLimit {
		text = strings.ToValidUTF8(text[:textLimit], "") + "…"
	}
	return text
}

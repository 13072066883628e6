package openai

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// quoteLimit bounds, in bytes, what is quoted of a provider's error.
const quoteLimit = 500

// failure classifies err: it returns the error that [llm.Provider] promises.
func (c *Client) failure(ctx, callCtx context.Context, x *exchange, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", c.opts.Service, context.Cause(ctx))
	}
	out := &remote.Error{Service: c.opts.Service, RetryAfter: x.retryAfter, Err: err}
	if cause := context.Cause(callCtx); cause != nil {
		out.Err = cause
		return out
	}
	if !x.sent {
		out.Status = http.StatusBadRequest // go-openai rejects the request, and always will
	}
	said := asServiceError(err)
	if said == nil {
		out.Err = c.redact(err)
		if isUnreachable(err) {
			out.Err = c.redact(fmt.Errorf("%s cannot be reached: check that it runs, the network, and %s (%w)",
				c.base, c.opts.Setting, remote.WithoutURL(err)))
		}
		return out
	}
	out.Status, out.Err = said.effectiveStatus(), c.redact(said)
	switch {
	case said.tooLong():
		out.Err = fmt.Errorf("%w: %w", llm.ErrTooLong, out.Err)
	case x.images && said.noImages():
		out.Err = fmt.Errorf("%w: %w", llm.ErrNoImages, out.Err)
	}
	return out
}

// isUnreachable reports whether no connection to the provider, or to the proxy, was made.
func isUnreachable(err error) bool {
	if refused, ok := errors.AsType[*net.OpError](err); ok && (refused.Op == "dial" || refused.Op == "proxyconnect") {
		return true
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted
}

// redact removes the API key from an error that quotes it. Very short keys are
// placeholders and would match anything.
func (c *Client) redact(err error) error {
	const short = 6
	if key := c.opts.APIKey; len(key) >= short && strings.Contains(err.Error(), key) {
		return errors.New(strings.ReplaceAll(err.Error(), key, "[key]"))
	}
	return err
}

// serviceError is an error that the provider returned.
type serviceError struct {
	status  int
	message string
	codes   []string // its code and its type
}

func (e *serviceError) Error() string { return e.message }

// asServiceError returns the provider's error in err's chain, or nil.
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
		said := &serviceError{message: quote(refused.Message), codes: []string{refused.Type}}
		if refused.Code != nil {
			said.codes = append(said.codes, fmt.Sprint(refused.Code))
		}
		said.status = cmp.Or(refused.HTTPStatusCode, said.impliedStatus())
		return said
	}
	return nil
}

// parseError reads an error that go-openai cannot: {"error": "…"}, {"message": …},
// {"detail": …}, one of these in a list, or plain text.
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
	var values map[string]json.RawMessage
	said := &serviceError{}
	if json.Unmarshal(inner, &values) == nil {
		said.message = cmp.Or(textOf(values["message"]), textOf(values["detail"]))
		said.codes = []string{textOf(values["code"]), textOf(values["type"])}
	}
	said.message = quote(cmp.Or(said.message, textOf(inner), "no reason given"))
	said.status = said.impliedStatus()
	return said
}

// impliedStatus returns the status of an error within a stream: a status given as
// its code, else that of its type, else 0.
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

// textOf returns the text of a JSON string, or any other JSON unchanged.
func textOf(raw []byte) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(bytes.TrimSpace(raw))
}

// quote returns a message as one line of bounded length.
func quote(message string) string {
	return text.Cut(text.Line(message), quoteLimit)
}

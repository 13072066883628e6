package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// failure turns what went wrong into the error that [llm.Provider] promises.
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
		out.Status = http.StatusBadRequest // the library refuses it, and always will
	}
	said := asServiceError(err)
	if said == nil {
		out.Err = c.scrub(err)
		return out
	}
	out.Status, out.Err = said.meantStatus(), c.scrub(said)
	switch {
	case said.tooLong():
		out.Err = fmt.Errorf("%w: %w", llm.ErrTooLong, out.Err)
	case x.images && said.noImages():
		out.Err = fmt.Errorf("%w: %w", llm.ErrNoImages, out.Err)
	}
	return out
}

// scrub takes the key out of an error that says it. A short one is none, and would be
// found everywhere.
func (c *Client) scrub(err error) error {
	const short = 6
	if key := c.opts.APIKey; len(key) >= short && strings.Contains(err.Error(), key) {
		return errors.New(strings.ReplaceAll(err.Error(), key, "[key]"))
	}
	return err
}

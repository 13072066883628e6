package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// errTooSlow is the cause of a call's own deadline.
var errTooSlow = errors.New("timeout")

// unsent wraps the failure of a call that the server did not receive.
type unsent struct{ error }

func (u unsent) Unwrap() error { return u.error }

// sentKey is the context key of a request's mark.
type sentKey struct{}

// withMark returns a context for one request, and its mark: the number of messages
// sent for it that the server may process. Transports increment it before sending,
// and decrement it if the message was not sent or was refused, since the SDK's errors
// do not tell. A cancellation counts as a message.
func withMark(ctx context.Context) (context.Context, *atomic.Int32) {
	sent := &atomic.Int32{}
	return context.WithValue(ctx, sentKey{}, sent), sent
}

// sentMark returns the mark of ctx's request.
func sentMark(ctx context.Context) *atomic.Int32 {
	if sent, ok := ctx.Value(sentKey{}).(*atomic.Int32); ok {
		return sent
	}
	return &atomic.Int32{}
}

// failed returns an error of the server's transport.
func (s *server) failed(status int, retryAfter time.Duration, err error) *remote.Error {
	return &remote.Error{Service: "mcp " + s.Name, Status: status, RetryAfter: retryAfter, Err: err}
}

// transportError converts a connection's error to a *remote.Error.
func (s *server) transportError(err error) *remote.Error {
	if failed := remote.As(err); failed != nil {
		return failed
	}
	if _, clear := errors.AsType[unsent](err); clear {
		return s.failed(0, 0, err)
	}
	return s.failed(0, 0, fmt.Errorf("no usable answer: %w", remote.WithoutURL(err)))
}

// answered reports whether err is the server's response.
func answered(err error) bool {
	_, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && remote.As(err) == nil
}

// verdict converts the error of a call for its caller. A retryable one is a
// *remote.Error unless the tool must not run again. ctx is the call's context, own
// the one with our deadline.
func (s *server) verdict(ctx, own context.Context, kind tool.Kind, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, idle := errors.AsType[unsent](err)
	if errors.Is(context.Cause(own), errTooSlow) {
		return s.tooSlow(kind, idle)
	}
	if answered(err) {
		answer, _ := errors.AsType[*jsonrpc.Error](err)
		return fmt.Errorf("mcp %s: %s", s.Name, s.redact(answer.Message))
	}
	failed := s.transportError(err)
	failed = s.failed(failed.Status, failed.RetryAfter, errors.New(s.redact(remote.WithoutURL(failed.Err).Error())))
	switch {
	case kind != tool.Once, failed.Permanent():
		return failed
	case idle:
		return fmt.Errorf("%s; the call had no effect", failed.Error())
	default:
		return fmt.Errorf("%s: %w", failed.Error(), tool.ErrOutcomeUnknown)
	}
}

// tooSlow returns the error of a call that timed out. It is not retryable.
func (s *server) tooSlow(kind tool.Kind, idle bool) error {
	switch {
	case idle:
		return fmt.Errorf("mcp %s was not reachable within %s and the call had no effect; try again later", s.Name, s.Timeout)
	case kind == tool.Once:
		return fmt.Errorf("mcp %s did not answer within %s and the call was cancelled: %w", s.Name, s.Timeout, tool.ErrOutcomeUnknown)
	default:
		return fmt.Errorf("mcp %s did not answer within %s and the call was cancelled", s.Name, s.Timeout)
	}
}

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

// unsent is the cause of a call's failure that the server did not begin to serve.
type unsent struct{ error }

func (u unsent) Unwrap() error { return u.error }

// sentKey is where a context has the mark that its request may be served.
type sentKey struct{}

// withMark returns a context for one request, and the mark of it: how many messages
// a transport has sent for it that may be served. It counts one before it sends it,
// and takes it back when it was not sent or was refused: the SDK's errors do not
// tell. That the request is given up is a message of its own.
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

// failed is an error of the server's transport.
func (s *server) failed(status int, retryAfter time.Duration, err error) *remote.Error {
	return &remote.Error{Service: "mcp " + s.Name, Status: status, RetryAfter: retryAfter, Err: err}
}

// transportError is err, which a connection failed with, as a *remote.Error.
func (s *server) transportError(err error) *remote.Error {
	if failed := remote.As(err); failed != nil {
		return failed
	}
	if _, clear := errors.AsType[unsent](err); clear {
		return s.failed(0, 0, err)
	}
	return s.failed(0, 0, fmt.Errorf("no usable answer: %w", bare(err)))
}

// answered reports whether err is what the server answered.
func answered(err error) bool {
	_, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && remote.As(err) == nil
}

// verdict is what a call's caller is told of err: one that another attempt may
// cure is a *remote.Error, unless the tool must not run again. ctx is the call's,
// own the one with our deadline.
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
	failed = s.failed(failed.Status, failed.RetryAfter, errors.New(s.redact(bare(failed.Err).Error())))
	switch {
	case kind != tool.Once, failed.Permanent():
		return failed
	case idle:
		return fmt.Errorf("%s; nothing was done", failed.Error())
	default:
		return fmt.Errorf("%s: %w", failed.Error(), tool.ErrOutcomeUnknown)
	}
}

// tooSlow is the end of a call that took too long. Another attempt would, too.
func (s *server) tooSlow(kind tool.Kind, idle bool) error {
	switch {
	case idle:
		return fmt.Errorf("mcp %s is not up after %s, nothing was done; try again later", s.Name, s.Timeout)
	case kind == tool.Once:
		return fmt.Errorf("mcp %s did not answer within %s and was told to stop: %w", s.Name, s.Timeout, tool.ErrOutcomeUnknown)
	default:
		return fmt.Errorf("mcp %s did not answer within %s and was told to stop", s.Name, s.Timeout)
	}
}

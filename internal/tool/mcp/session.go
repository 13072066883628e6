package mcp

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// transport is a single connection to a server.
type transport interface {
	sdk.Transport
	close(*sdk.ClientSession) // ends the connection gracefully, within seconds
	abort()                   // ends it immediately, even while connecting
	why() string              // returns why it ended, if known and not our doing
	activity() int64          // grows with each message or data from the server
}

// Why a session is abandoned.
var (
	errHung   = errors.New("the server did not respond to a ping or send anything else")
	errLost   = errors.New("the connection was lost")
	errClosed = errors.New("the connection was closed")
)

// session is an established connection to a server.
type session struct {
	transport
	sdk    *sdk.ClientSession
	ended  chan struct{}           // closed when the connection ended
	use    context.Context         // ends when the session is abandoned
	drop   context.CancelCauseFunc // abandons the session and its pending calls
	probed atomic.Bool             // a probe is running
}

// open connects to the server and reads its lists.
func (s *server) open(ctx context.Context) (*session, error) {
	var t transport = newChild(s)
	limit := startTimeout
	if s.URL != "" {
		t, limit = newLink(s), connectTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	connected, err := within(ctx, func() (*sdk.ClientSession, error) { return s.client.Connect(ctx, t, nil) })
	if err != nil {
		err = s.unreached(ctx, t, err)
		t.abort()
		return nil, err
	}
	opened := &session{transport: t, sdk: connected, ended: make(chan struct{})}
	opened.use, opened.drop = context.WithCancelCause(context.WithoutCancel(ctx))
	go func() {
		defer close(opened.ended)
		_ = connected.Wait() // why has the reason
	}()
	if err := s.read(ctx, connected); err != nil {
		err = s.unreached(ctx, t, err)
		opened.close()
		return nil, err
	}
	return opened, nil
}

// unreached explains why the server could not be reached. It must be called before
// the connection is closed.
func (s *server) unreached(ctx context.Context, t transport, err error) error {
	if ctx.Err() != nil {
		return s.failed(0, 0, errors.New("the server did not start in time"))
	}
	failed := s.transportError(err)
	cause := remote.WithoutURL(failed.Err).Error()
	if !answered(err) {
		cause = cmp.Or(t.why(), cause)
	}
	return s.failed(failed.Status, failed.RetryAfter, errors.New(s.redact(cause)))
}

func (s *session) close() { s.transport.close(s.sdk) }

// why returns why the session ended.
func (s *session) why() string {
	err := context.Cause(s.use)
	switch {
	case err == nil:
		return s.transport.why()
	case errors.Is(err, errLost):
		return cmp.Or(s.transport.why(), err.Error())
	default:
		return err.Error()
	}
}

func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return s.use.Err() != nil
	}
}

// bind returns a context that ends with ctx or when the session is abandoned.
func (s *session) bind(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.use, cancel)
	return ctx, func() { stop(); cancel() }
}

// probe pings the server after a call timed out. A server that sends nothing at all
// within limit is abandoned; the next call starts it again. docs/decisions.md says
// why this is not the SDK's keep-alive.
func (s *session) probe(ctx context.Context, limit time.Duration) {
	if !s.probed.CompareAndSwap(false, true) {
		return
	}
	before := s.activity()
	go func() {
		defer s.probed.Store(false)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		// An error is a response as well.
		_, _ = within(ctx, func() (struct{}, error) { return struct{}{}, s.sdk.Ping(ctx, nil) })
		if ctx.Err() != nil && s.activity() == before {
			s.drop(errHung)
		}
	}()
}

// within returns the result of f, or ctx's error as soon as ctx ends: f may block in
// a write to a server that does not read.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := f()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

package mcp

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// transport is how a server is reached, once.
type transport interface {
	sdk.Transport
	close(*sdk.ClientSession) // ends the connection, gently, within seconds
	abort()                   // ends it at once, also while it is made
	why() string              // says what is known of why it ended, after it did, unless we ended it
	heard() int64             // grows with each sign of life
}

// errHung, errLost and errClosed are the causes of a session that is given up.
var (
	errHung   = errors.New("it gave no sign of life and was given up")
	errLost   = errors.New("the connection was lost")
	errClosed = errors.New("the connection was closed")
)

// session is a connection to a server that is up.
type session struct {
	transport
	sdk    *sdk.ClientSession
	ended  chan struct{}           // closed when the connection is over
	use    context.Context         // ends when it is of no use any more
	drop   context.CancelCauseFunc // gives it up, and all calls that wait
	probed atomic.Bool             // a probe goes on
}

// open connects to the server and reads its lists.
func (s *server) open(ctx context.Context) (*session, error) {
	var t transport = newProcess(s)
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
		_ = connected.Wait() // why says more
	}()
	if err := s.read(ctx, connected); err != nil {
		err = s.unreached(ctx, t, err)
		opened.close()
		return nil, err
	}
	return opened, nil
}

// unreached says why the server could not be reached. It is asked before the
// connection is ended by us.
func (s *server) unreached(ctx context.Context, t transport, err error) error {
	if ctx.Err() != nil {
		return s.failed(0, 0, errors.New("it did not come up in time"))
	}
	failed := s.transportError(err)
	cause := bare(failed.Err).Error()
	if !answered(err) {
		cause = cmp.Or(t.why(), cause)
	}
	return s.failed(failed.Status, failed.RetryAfter, errors.New(s.redact(cause)))
}

func (s *session) close() { s.transport.close(s.sdk) }

// why says why the session ended.
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

// bind returns a context that ends with ctx, and when the session is given up.
func (s *session) bind(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.use, cancel)
	return ctx, func() { stop(); cancel() }
}

// probe asks for a sign of life after a call got no answer in time. A server that
// gives none, of whatever kind, is given up: the next call starts it anew.
func (s *session) probe(ctx context.Context, patience time.Duration) {
	if !s.probed.CompareAndSwap(false, true) {
		return
	}
	before := s.heard()
	go func() {
		defer s.probed.Store(false)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		// An error is a sign of life, too.
		_, _ = within(ctx, func() (struct{}, error) { return struct{}{}, s.sdk.Ping(ctx, nil) })
		if ctx.Err() != nil && s.heard() == before {
			s.drop(errHung)
		}
	}()
}

// within returns what f returns, or ctx's error as soon as ctx ends: f may hang in
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

package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// keepAnswer is how long the answer to a call is kept whose attempt was given up: longer than
// the next attempt takes to come, which is up to a minute.
const keepAnswer = 2 * time.Minute

// flights are the calls that are under way. They outlive their attempts: one that was given
// up because the process was frozen, or lost its connection to Temporal, is followed by
// another, which gets the answer. The zero value is ready.
type flights struct {
	mu    sync.Mutex
	calls map[string]*flight // by key
}

// flight is a call that is under way or has an answer.
type flight struct {
	done   chan struct{} // closed when there is an answer
	end    context.CancelCauseFunc
	result tool.Result
	err    error

	expected bool // another attempt will join; guarded by the mutex of flights
}

// expect reports whether a call is under way or has an answer. The answer is then kept for
// the attempt that asks: the one before may take it first.
func (f *flights) expect(key string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	known := f.calls[key]
	if known == nil {
		return false
	}
	known.expected = true
	return true
}

// join makes a call, or waits for the answer if it is under way.
func (f *flights) join(ctx context.Context, call tool.Call, run func(context.Context, tool.Call) (tool.Result, error)) (tool.Result, error) {
	joined := f.start(ctx, call, run)
	select {
	case <-joined.done:
		if tool.Check(ctx) == nil {
			f.taken(call.Key, joined)
		}
		return joined.result, joined.err
	case <-ctx.Done():
		cause := context.Cause(ctx)
		if errors.Is(cause, tool.ErrStopped) {
			joined.end(cause)
		}
		return tool.Result{}, cause
	}
}

func (f *flights) start(ctx context.Context, call tool.Call, run func(context.Context, tool.Call) (tool.Result, error)) *flight {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known := f.calls[call.Key]; known != nil {
		return known
	}
	ctx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	started := &flight{done: make(chan struct{}), end: end}
	if f.calls == nil {
		f.calls = map[string]*flight{}
	}
	f.calls[call.Key] = started
	go func() {
		defer end(nil)
		started.result, started.err = run(ctx, call) // not longer than the server's timeout
		close(started.done)
		time.AfterFunc(keepAnswer, func() { f.forget(call.Key, started) })
	}()
	return started
}

// taken forgets a call whose answer was taken, unless another attempt will join it.
func (f *flights) taken(key string, known *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls[key] == known && !known.expected {
		delete(f.calls, key)
	}
}

func (f *flights) forget(key string, known *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls[key] == known {
		delete(f.calls, key)
	}
}

package cli

import (
	"context"
	"sync"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// What is shown while the agent does not answer.
const (
	awayUnsent  = "not connected, will send when it is back"
	awayWaiting = "not connected, the reply follows when it is back"
	backAgain   = "connected again"
)

// connection is whether the agent answers, as far as a conversation knows.
type connection struct {
	mu   sync.Mutex
	away bool
	on   func(away bool) // called when it changes, with the lock; may be nil
}

// watch calls on whenever the agent stops or starts answering.
func (l *connection) watch(on func(away bool)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.on = on
}

// tried notes the outcome of a call. A refusal is an answer.
func (l *connection) tried(ctx context.Context, err error) {
	failed := remote.As(err)
	if ctx.Err() == nil {
		l.set(failed != nil && !failed.Permanent())
	}
}

func (l *connection) set(away bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed := l.away != away
	l.away = away
	if changed && l.on != nil {
		l.on(away)
	}
}

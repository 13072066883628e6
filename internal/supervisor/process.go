package supervisor

import (
	"context"
	"time"
)

// Process is a command that was started by this or another process.
type Process struct {
	entry  entry
	exited <-chan struct{} // closed when the supervisor we started exits; nil if we started none
}

// Wait waits for the command and returns how it ended. The error is [ErrLost] or
// ctx's cause; the command continues when ctx ends.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	if err := until(ctx, p.exited, func() bool { return p.entry.phase() != running }); err != nil {
		return Exit{}, err
	}
	return p.Status()
}

// Status returns how the command ended, or [ErrRunning] or [ErrLost].
func (p *Process) Status() (Exit, error) {
	switch exit, phase := p.entry.status(); phase {
	case finished:
		return exit, nil
	case running:
		return Exit{}, ErrRunning
	default:
		return Exit{}, ErrLost
	}
}

// The interval of checking files grows, since most commands are short.
const (
	shortestPoll = time.Millisecond
	longestPoll  = 50 * time.Millisecond
)

// until returns nil when done reports true. It polls, and checks when hint is closed.
// If ctx ends first, it returns its cause.
func until(ctx context.Context, hint <-chan struct{}, done func() bool) error {
	began := time.Now()
	for !done() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-hint:
			hint = nil
		case <-time.After(min(max(time.Since(began)/10, shortestPoll), longestPoll)):
		}
	}
	return nil
}

func closed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

package supervisor

import (
	"context"
	"time"
)

// Process is a command that was started, here or elsewhere, now or long ago.
type Process struct {
	entry  entry
	exited <-chan struct{} // closed when the supervisor that we started ends; nil if we started none
}

// Wait returns how the command ended, once it has. The error is [ErrLost], or
// ctx's cause; the command goes on when ctx ends.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	if err := until(ctx, p.exited, func() bool { return p.entry.phase() != running }); err != nil {
		return Exit{}, err
	}
	return p.Status()
}

// Status returns how the command ended. The error is [ErrRunning] or [ErrLost] if
// that cannot be said yet, or ever.
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

// Exit returns how the command ended; false if it runs or was lost.
func (p *Process) Exit() (Exit, bool) {
	exit, phase := p.entry.status()
	return exit, phase == finished
}

// How often files are looked at: soon at first, since most commands are short,
// then less and less often.
const (
	shortestPoll = time.Millisecond
	longestPoll  = 50 * time.Millisecond
)

// until returns nil when done reports true. It looks every now and then, and
// when hint is closed. If ctx ends first it returns its cause.
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

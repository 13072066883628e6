package chat

import (
	"context"
	"errors"
	"sync"
	"time"
)

const (
	maxRunning = 64    // jobs at once
	maxQueued  = 1_000 // jobs that are queued or running
	// drainTimeout bounds how long queued jobs may take once the receiver is to stop.
	drainTimeout = 5 * time.Second
)

var errNotDrained = errors.New("messages were still being accepted")

// queues runs the jobs of one conversation one after the other, in the order in which
// they were queued, and those of different conversations concurrently.
type queues struct {
	running, queued chan struct{}

	mu   sync.Mutex
	jobs int                      // that are not over
	none chan struct{}            // closed while there are none
	last map[string]chan struct{} // by conversation: closed when the last queued job is done
}

func newQueues() *queues {
	none := make(chan struct{})
	close(none)
	return &queues{
		running: make(chan struct{}, maxRunning), queued: make(chan struct{}, maxQueued),
		none: none, last: map[string]chan struct{}{},
	}
}

// add queues a job, and waits only while far too many are queued. done is called after
// the job; with an error if ctx ended before its turn and it was not run.
func (q *queues) add(ctx context.Context, conversation string, job func(), done func(error)) {
	select {
	case q.queued <- struct{}{}:
	case <-ctx.Done():
		done(ctx.Err())
		return
	}
	over := make(chan struct{})
	q.mu.Lock()
	before := q.last[conversation]
	q.last[conversation] = over
	if q.jobs++; q.jobs == 1 {
		q.none = make(chan struct{})
	}
	q.mu.Unlock()
	go func() {
		err := q.run(ctx, before, job)
		q.leave(conversation, over)
		done(err)
		q.end()
	}()
}

// run runs a job once the one before it is over.
func (q *queues) run(ctx context.Context, before <-chan struct{}, job func()) error {
	if before != nil {
		select {
		case <-before:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case q.running <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-q.running }()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	job()
	return nil
}

func (q *queues) leave(conversation string, over chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.last[conversation] == over {
		delete(q.last, conversation)
	}
	close(over)
	<-q.queued
}

// end counts a job for which done has been called.
func (q *queues) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.jobs--; q.jobs == 0 {
		close(q.none)
	}
}

// over returns a channel that is closed once no job is left and done has been called for
// each. Jobs may be added meanwhile.
func (q *queues) over() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.none
}

// drain waits until all jobs are over, at most for drainTimeout.
func (q *queues) drain() error {
	select {
	case <-q.over():
		return nil
	case <-time.After(drainTimeout):
		return errNotDrained
	}
}

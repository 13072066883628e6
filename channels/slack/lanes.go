package slack

import (
	"context"
	"sync"
)

const (
	maxRunning = 64    // jobs at once
	maxWaiting = 1_000 // jobs taken from Slack and not finished
)

// lanes has jobs of one lane done one after the other, in the order in which they
// entered it, and those of different lanes side by side.
type lanes struct {
	running chan struct{}
	waiting chan struct{}

	mu   sync.Mutex
	last map[string]chan struct{} // of each lane: closed once who entered last has left
}

func newLanes() *lanes {
	return &lanes{
		running: make(chan struct{}, maxRunning), waiting: make(chan struct{}, maxWaiting), last: map[string]chan struct{}{},
	}
}

// place is a place in a lane.
type place struct {
	lanes  *lanes
	lane   string
	before chan struct{} // nil: nobody is before it
	done   chan struct{}
}

// enter takes the next place in a lane, which has to be left. It waits while there
// are far too many already; the error is that of ctx.
func (l *lanes) enter(ctx context.Context, lane string) (*place, error) {
	select {
	case l.waiting <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &place{lanes: l, lane: lane, before: l.last[lane], done: make(chan struct{})}
	l.last[lane] = p.done
	return p, nil
}

// do calls job once it is its turn. It is not called if ctx ends before.
func (p *place) do(ctx context.Context, job func()) error {
	if p.before != nil {
		select {
		case <-p.before:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	select {
	case p.lanes.running <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-p.lanes.running }()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	job()
	return nil
}

func (p *place) leave() {
	p.lanes.mu.Lock()
	defer p.lanes.mu.Unlock()
	if p.lanes.last[p.lane] == p.done {
		delete(p.lanes.last, p.lane)
	}
	close(p.done)
	<-p.lanes.waiting
}

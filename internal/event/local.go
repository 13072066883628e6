package event

import (
	"context"
	"sync"
)

// backlog is how many events a subscriber may lag before it loses some; reserve is extra
// room for [Done] events.
const (
	backlog = 256
	reserve = 16
)

// Local is a [Bus] within this process.
type Local struct {
	mu     sync.Mutex // also prevents sends on a closed channel
	topics map[string]map[chan Event]struct{}
	closed bool
}

// NewLocal returns a bus without subscribers.
func NewLocal() *Local {
	return &Local{topics: map[string]map[chan Event]struct{}{}}
}

// Publish implements [Bus].
func (l *Local) Publish(_ context.Context, topic string, e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for events := range l.topics[topic] {
		offer(events, e, e.Kind)
	}
}

// offer enqueues an item if the queue has room. It does not block.
func offer[T any](queue chan<- T, item T, kind Kind) bool {
	if kind != Done && len(queue) >= cap(queue)-reserve {
		return false
	}
	select {
	case queue <- item:
		return true
	default:
		return false
	}
}

// Subscribe implements [Bus].
func (l *Local) Subscribe(topic string) (<-chan Event, func()) {
	events := make(chan Event, backlog+reserve)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		close(events)
		return events, func() {}
	}
	if l.topics[topic] == nil {
		l.topics[topic] = map[chan Event]struct{}{}
	}
	l.topics[topic][events] = struct{}{}
	return events, func() { l.cancel(topic, events) }
}

func (l *Local) cancel(topic string, events chan Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.topics[topic][events]; !ok {
		return
	}
	delete(l.topics[topic], events)
	if len(l.topics[topic]) == 0 {
		delete(l.topics, topic)
	}
	close(events)
}

// Close closes all subscriptions. Later events are discarded.
func (l *Local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, subscribers := range l.topics {
		for events := range subscribers {
			close(events)
		}
	}
	clear(l.topics)
	return nil
}

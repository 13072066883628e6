package event

import (
	"context"
	"sync"
)

// buffer is how many events a slow subscriber may be behind.
const buffer = 256

// Local is a [Bus] within one process.
type Local struct {
	mu          sync.Mutex
	subscribers map[string]map[*subscriber]struct{}
}

type subscriber struct {
	events chan Event
}

// NewLocal returns a bus without subscribers.
func NewLocal() *Local {
	return &Local{subscribers: map[string]map[*subscriber]struct{}{}}
}

// Publish implements [Bus].
func (b *Local) Publish(_ context.Context, topic string, e Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.subscribers[topic] {
		s.offer(e)
	}
}

// offer hands over an event. The last place in the buffer is kept for the end.
func (s *subscriber) offer(e Event) {
	if len(s.events) >= buffer-1 && e.Kind != Done {
		return
	}
	select {
	case s.events <- e:
	default:
	}
}

// Subscribe implements [Bus].
func (b *Local) Subscribe(topic string) (<-chan Event, func()) {
	s := &subscriber{events: make(chan Event, buffer)}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.subscribers[topic] == nil {
		b.subscribers[topic] = map[*subscriber]struct{}{}
	}
	b.subscribers[topic][s] = struct{}{}
	return s.events, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.subscribers[topic], s)
		if len(b.subscribers[topic]) == 0 {
			delete(b.subscribers, topic)
		}
	}
}

package email

import (
	"maps"
	"sync"
	"time"
)

// hourly limits what happens in an hour, by key. Safe for concurrent use.
type hourly struct {
	limit int

	mu   sync.Mutex
	done map[string]map[string]time.Time // when, by key and event
}

const maxKeys = 10_000

func newHourly(limit int) *hourly {
	return &hourly{limit: limit, done: map[string]map[string]time.Time{}}
}

// allow reports whether an event may happen, and records that it does. The same event
// counts once.
func (h *hourly) allow(key, event string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.done) >= maxKeys {
		for key := range h.done {
			h.forget(key)
		}
	}
	h.forget(key)
	events := h.done[key]
	if _, again := events[event]; again {
		return true
	}
	if len(events) >= h.limit || len(h.done) >= maxKeys {
		return false
	}
	if events == nil {
		events = map[string]time.Time{}
		h.done[key] = events
	}
	events[event] = time.Now()
	return true
}

func (h *hourly) forget(key string) {
	maps.DeleteFunc(h.done[key], func(_ string, at time.Time) bool { return time.Since(at) > time.Hour })
	if len(h.done[key]) == 0 {
		delete(h.done, key)
	}
}

// has reports whether another event of a key may happen.
func (h *hourly) has(key string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(key)
	return len(h.done[key]) < h.limit
}

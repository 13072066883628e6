package chat

import (
	"maps"
	"sync"
	"time"
)

// maxThrottled bounds what a [throttle] remembers.
const maxThrottled = 10_000

// throttle limits how often something happens. The zero value is ready to use.
type throttle struct {
	mu   sync.Mutex
	next map[string]time.Time
}

// first reports whether key did not occur within the last interval, and records that it
// does now. It reports false if it cannot remember more keys.
func (t *throttle) first(key string, interval time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.Before(t.next[key]) {
		return false
	}
	if len(t.next) >= maxThrottled {
		maps.DeleteFunc(t.next, func(_ string, next time.Time) bool { return !now.Before(next) })
	}
	if len(t.next) >= maxThrottled {
		return false
	}
	if t.next == nil {
		t.next = map[string]time.Time{}
	}
	t.next[key] = now.Add(interval)
	return true
}

// recent reports whether key occurred within its last interval.
func (t *throttle) recent(key string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.next[key])
}

// undo forgets a key.
func (t *throttle) undo(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.next, key)
}

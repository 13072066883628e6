package slack

import (
	"sync"
	"time"
)

// maxThrottled bounds what a [throttle] remembers.
const maxThrottled = 10_000

// throttle lets things happen once in a while. The zero value is ready.
type throttle struct {
	mu   sync.Mutex
	next map[string]time.Time
}

// first reports whether this thing did not happen within the last while, and
// takes it to happen now. It reports false when it cannot remember more.
func (t *throttle) first(thing string, while time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if now.Before(t.next[thing]) {
		return false
	}
	if len(t.next) >= maxThrottled {
		for old, next := range t.next {
			if !now.Before(next) {
				delete(t.next, old)
			}
		}
	}
	if len(t.next) >= maxThrottled {
		return false
	}
	if t.next == nil {
		t.next = map[string]time.Time{}
	}
	t.next[thing] = now.Add(while)
	return true
}

// had reports whether this thing happened within the last while.
func (t *throttle) had(thing string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return time.Now().Before(t.next[thing])
}

// undo takes a thing not to have happened.
func (t *throttle) undo(thing string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.next, thing)
}

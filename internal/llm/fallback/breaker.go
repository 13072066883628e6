package fallback

import (
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// maxFailures is how many consecutive failures start a cooldown.
	maxFailures = 3
	// minCooldown and maxCooldown bound the cooldowns that the breaker chooses. Each is
	// twice as long as the one before, until the candidate answers.
	minCooldown = 30 * time.Second
	maxCooldown = 10 * time.Minute
)

// breaker is a circuit breaker of one candidate. After a cooldown one call tries
// the candidate; other calls skip it until that one is decided. The zero value is
// ready.
type breaker struct {
	mu       sync.Mutex
	failures int // consecutive
	last     *remote.Error
	cooldown time.Duration // the last that the breaker chose
	until    time.Time     // end of the cooldown; zero since the candidate answered
	asked    bool          // the service asked for the cooldown
	trying   bool          // a call is trying the candidate after a cooldown
}

// ready reports whether a call may be made.
func (b *breaker) ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free()
}

// admit returns nil if the call may be made, else the last failure and how long
// the service asked to wait. The only candidate is called even in a cooldown,
// unless the service asked for it.
func (b *breaker) admit(only bool) (last *remote.Error, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.free() && (!only || b.wait() > 0) {
		return b.last, b.wait()
	}
	b.trying = !b.until.IsZero()
	return nil, 0
}

func (b *breaker) free() bool { return !b.cooling() && !b.trying }

func (b *breaker) cooling() bool { return time.Now().Before(b.until) }

// wait returns what remains of a cooldown that the service asked for.
func (b *breaker) wait() time.Duration {
	if !b.asked {
		return 0
	}
	return max(0, time.Until(b.until))
}

// failed records a failure and reports whether the candidate is now in a cooldown.
// Failures during a cooldown do not extend it.
func (b *breaker) failed(err *remote.Error) (cooling bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	b.last = err
	switch {
	case err.RetryAfter > shortWait:
		b.until, b.asked = time.Now().Add(err.RetryAfter), true
	case b.cooling():
	case b.failures >= maxFailures, !b.until.IsZero(), nonRetryable(err):
		b.cooldown = min(max(minCooldown, 2*b.cooldown), maxCooldown)
		b.until, b.asked = time.Now().Add(b.cooldown), false
	}
	return b.cooling()
}

// succeeded records that the candidate answered.
func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.last, b.cooldown, b.until, b.asked = 0, nil, 0, time.Time{}, false
}

// done records that a call ended, with or without an answer.
func (b *breaker) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
}

// nonRetryable reports whether the next call would fail as well: the key, the
// account or the model is wrong. A 403 may concern a single request.
func nonRetryable(err *remote.Error) bool {
	switch err.Status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusNotFound:
		return true
	}
	return false
}

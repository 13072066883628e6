package fallback

import (
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// patience is how many failures in a row a candidate may have before it rests.
	patience = 3
	// firstRest and longestRest bound a rest that we decide on. Each is twice as
	// long as the one before, until the candidate answers.
	firstRest   = 30 * time.Second
	longestRest = 10 * time.Minute
)

// breaker remembers how a candidate fares, and lets it rest. After a rest one
// call tries it; the others go on without until that one is decided. The zero
// value is ready.
type breaker struct {
	mu       sync.Mutex
	failures int // in a row
	last     *remote.Error
	rest     time.Duration // the last that we decided on
	until    time.Time     // end of the rest; zero when there was none since it answered
	asked    bool          // the service asked for the rest
	trying   bool          // a call tries it after a rest
}

// ready reports whether a call may be made.
func (b *breaker) ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.free()
}

// admit returns nil if the call is to be made, else the last failure and how
// long the service asked to wait. Where there is nobody else to ask, the call is
// made, but in a rest that the service asked for.
func (b *breaker) admit(nobodyElse bool) (last *remote.Error, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.free() && (!nobodyElse || b.wait() > 0) {
		return b.last, b.wait()
	}
	b.trying = !b.until.IsZero()
	return nil, 0
}

func (b *breaker) free() bool { return !b.resting() && !b.trying }

func (b *breaker) resting() bool { return time.Now().Before(b.until) }

// wait is what remains of a rest that the service asked for.
func (b *breaker) wait() time.Duration {
	if !b.asked {
		return 0
	}
	return max(0, time.Until(b.until))
}

// failed records a failure, and reports whether the candidate now rests. What
// fails where there is nobody else to ask does not lengthen its rest.
func (b *breaker) failed(err *remote.Error) (rests bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures++
	b.last = err
	switch {
	case err.RetryAfter > shortWait:
		b.until, b.asked = time.Now().Add(err.RetryAfter), true
	case b.resting():
	case b.failures >= patience, !b.until.IsZero(), hopeless(err):
		b.rest = min(max(firstRest, 2*b.rest), longestRest)
		b.until, b.asked = time.Now().Add(b.rest), false
	}
	return b.resting()
}

// succeeded records that the candidate answers.
func (b *breaker) succeeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.failures, b.last, b.rest, b.until, b.asked = 0, nil, 0, time.Time{}, false
}

// done records that a call has ended, however it did.
func (b *breaker) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
}

// hopeless reports whether the next call would most likely fail, too: there is no
// such key, money or model. A 403 may be about one request.
func hopeless(err *remote.Error) bool {
	switch err.Status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusNotFound:
		return true
	}
	return false
}

package chat

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Limiter rejects calls while the platform's Retry-After for such calls has not
// elapsed. It blocks for at most Patience. The zero value rejects none.
type Limiter struct {
	Service string // names the platform in errors
	// Patience is how long a call that is not [Skippable] waits rather than being rejected.
	Patience time.Duration

	mu    sync.Mutex
	until map[limit]time.Time
}

// limit is the key of a rate limit: a method, and for messages a chat. The zero value is
// the limit of all calls.
type limit struct{ method, chat string }

type skippable struct{}

// Skippable marks the calls made with the context as optional: they are skipped while any
// limit of the same method or chat is in effect.
func Skippable(ctx context.Context) context.Context {
	return context.WithValue(ctx, skippable{}, true)
}

// Do makes a call of a method that the platform limits per method or, if perChat, per
// chat. The error of call is a remote.Error. During a Retry-After, call is not called and
// the error contains the remaining time.
func (l *Limiter) Do(ctx context.Context, method, chat string, perChat bool, call func(context.Context) error) error {
	key := limit{method: method}
	if perChat {
		key.chat = chat
	}
	optional := ctx.Value(skippable{}) != nil
	rest := l.rest(key)
	for end := time.Now().Add(l.Patience); !optional && rest > 0 && !time.Now().Add(rest).After(end) && Sleep(ctx, rest); {
		rest = l.rest(key)
	}
	if rest > 0 || optional && l.Busy(method, chat) {
		return &remote.Error{
			Service: l.Service, Status: http.StatusTooManyRequests, RetryAfter: max(rest, 0), Err: fmt.Errorf("%s: %s asked to wait", method, l.Service),
		}
	}
	err := call(ctx)
	if failed := remote.As(err); failed != nil && failed.Status == http.StatusTooManyRequests {
		failed.RetryAfter = max(failed.RetryAfter, time.Second)
		l.hold(key, failed.RetryAfter)
	}
	return err
}

// Hold has calls of a method wait, as a platform announces before it refuses any: in a chat,
// or in all if chat is empty. Without a method, all calls wait.
func (l *Limiter) Hold(method, chat string, wait time.Duration) { l.hold(limit{method, chat}, wait) }

// Busy reports whether calls of a method, or in a chat, are rejected.
func (l *Limiter) Busy(method, chat string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for key, until := range l.until {
		if until.After(now) && (key.method == method || key.chat != "" && key.chat == chat || key == limit{}) {
			return true
		}
	}
	return false
}

// rest returns the remaining wait before a call; zero or less: none.
func (l *Limiter) rest(key limit) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(time.Until(l.until[key]), time.Until(l.until[limit{}]))
}

func (l *Limiter) hold(key limit, wait time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for old, until := range l.until {
		if until.Before(now) {
			delete(l.until, old)
		}
	}
	if l.until == nil {
		l.until = map[limit]time.Time{}
	}
	if until := now.Add(wait); until.After(l.until[key]) {
		l.until[key] = until
	}
}

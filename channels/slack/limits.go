package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// errLimited is wrapped by the error of a call that was not made.
var errLimited = errors.New("slack asked to wait")

// limits remembers which calls Slack asked us to hold back, until when. The zero
// value holds back none. Nobody ever waits here.
type limits struct {
	mu    sync.Mutex
	until map[limit]time.Time
}

// limit is what Slack counts calls by: a method, and for messages a chat.
type limit struct{ method, chat string }

// rest is for how long a call has to be held back still; zero or less: not.
func (l *limits) rest(key limit) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.until[key])
}

// hold holds a call back from now on. What is over is forgotten.
func (l *limits) hold(key limit, wait time.Duration) {
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
	l.until[key] = now.Add(wait)
}

// perChat are the methods that Slack limits in each chat by itself.
var perChat = map[string]bool{"chat.postMessage": true, "chat.update": true}

// call makes one call of the Web API: f, that calls method in chat (a channel's ID
// at Slack; empty where there is none). Its error is a [remote.Error]. While Slack
// asked to wait with such calls f is not called, and the error says for how long.
func (c *Channel) call(ctx context.Context, method, chat string, f func(context.Context) error) error {
	key := limit{method: method}
	if perChat[method] {
		key.chat = chat
	}
	if rest := c.limits.rest(key); rest > 0 {
		return &remote.Error{Service: Name, Status: http.StatusTooManyRequests, RetryAfter: rest, Err: fmt.Errorf("%s: %w", method, errLimited)}
	}
	err := f(ctx)
	if err == nil {
		return nil
	}
	err = failure(fmt.Errorf("%s: %w", method, err))
	if failed := remote.As(err); failed.Status == http.StatusTooManyRequests {
		failed.RetryAfter = max(failed.RetryAfter, time.Second)
		c.limits.hold(key, failed.RetryAfter)
	}
	return err
}

// try is [Channel.call] for what can be left out: it gives way as long as anything
// is held back that has the method or the chat.
func (c *Channel) try(ctx context.Context, method, chat string, f func(context.Context) error) error {
	if c.limits.busy(method, chat) {
		return &remote.Error{Service: Name, Status: http.StatusTooManyRequests, Err: fmt.Errorf("%s: %w", method, errLimited)}
	}
	return c.call(ctx, method, chat, f)
}

// busy reports whether calls of a method, or in a chat, are held back.
func (l *limits) busy(method, chat string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	for key, until := range l.until {
		if until.After(now) && (key.method == method || key.chat != "" && key.chat == chat) {
			return true
		}
	}
	return false
}

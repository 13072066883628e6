package chat

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// maxPacing is how long a call waits for its turn. One that would have to wait longer is
	// refused, so that it does not hold up others.
	maxPacing = 5 * time.Second
	// maxPaced bounds the chats that a [Pacer] remembers.
	maxPaced = 10_000
)

var errTooFast = errors.New("this chat has had many messages lately")

// Rhythm is how many messages a chat takes: one every Every, and Burst at once.
type Rhythm struct {
	Every time.Duration
	Burst int
}

// Pacer spaces the messages of a chat, so that the platform need not refuse them. What only
// shows progress ([Skippable]) never waits, and leaves the bursts to the replies. Safe for
// concurrent use.
type Pacer struct {
	Service string                   // names the platform in errors
	Of      func(chat string) Rhythm // of a chat
	mu      sync.Mutex
	next    map[string]time.Time // by chat: when it has taken all that was sent, at its rhythm
}

// Wait waits until a chat takes another message. Its error is a remote.Error with the time
// to wait, if that is too long, or ctx's.
func (p *Pacer) Wait(ctx context.Context, chat string) error {
	wait, ok := p.reserve(chat, ctx.Value(skippable{}) != nil)
	if !ok {
		return &remote.Error{Service: p.Service, Status: http.StatusTooManyRequests, RetryAfter: wait, Err: errTooFast}
	}
	if wait > 0 && !Sleep(ctx, wait) {
		return &remote.Error{Service: p.Service, Err: ctx.Err()}
	}
	return nil
}

// reserve takes the place of a message, and returns how long to wait for it.
func (p *Pacer) reserve(chat string, optional bool) (wait time.Duration, ok bool) {
	rhythm := p.Of(chat)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	next := p.next[chat]
	if next.Before(now) {
		next = now
	}
	wait = next.Sub(now)
	if !optional {
		wait = max(0, wait-time.Duration(rhythm.Burst-1)*rhythm.Every)
	}
	if wait > 0 && optional || wait > maxPacing {
		return wait, false
	}
	if len(p.next) >= maxPaced || p.next == nil {
		p.next = map[string]time.Time{}
	}
	p.next[chat] = next.Add(rhythm.Every)
	return wait, true
}

package chat

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// errTooSoon is the error of a part that would follow the one before it too quickly.
var errTooSoon = errors.New("too soon after the part before it")

// maxSpaced bounds the chats that a [spacing] remembers.
const maxSpaced = 1_000

// spacing keeps the parts of a reply apart: platforms refuse messages that follow each other
// too quickly. The zero value is ready to use.
type spacing struct {
	mu   sync.Mutex
	next map[string]time.Time // when a further part may be posted, by chat
}

// posted records that something was posted in a chat.
func (s *spacing) posted(chat string, pause time.Duration) {
	if pause == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if len(s.next) >= maxSpaced {
		maps.DeleteFunc(s.next, func(_ string, next time.Time) bool { return next.Before(now) })
	}
	if s.next == nil {
		s.next = map[string]time.Time{}
	}
	s.next[chat] = now.Add(pause)
}

// wait waits until a further part may be posted. If ctx ends before that, it returns at once
// what the platform would answer.
func (s *spacing) wait(ctx context.Context, platform, chat string) error {
	s.mu.Lock()
	next := s.next[chat]
	s.mu.Unlock()
	rest := time.Until(next)
	if rest <= 0 {
		return nil
	}
	if end, ends := ctx.Deadline(); ends && end.Before(next) || !Sleep(ctx, rest) {
		return &remote.Error{
			Service: platform, Status: http.StatusTooManyRequests, RetryAfter: rest, Err: errTooSoon,
		}
	}
	return nil
}

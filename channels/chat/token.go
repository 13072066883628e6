package chat

import (
	"context"
	"sync"
	"time"
)

// tokenMargin is how long before its end a token is renewed, at most half of its life:
// calls that use it take time, and clocks differ.
const tokenMargin = 5 * time.Minute

// Token is an access token that a platform issues for a while. It is fetched when it is
// needed first and before it expires, by one caller at a time. Safe for concurrent use.
type Token struct {
	// Fetch makes one call for a new token and returns how long that lasts.
	Fetch func(ctx context.Context) (token string, lasts time.Duration, err error)

	mu    sync.Mutex
	token string
	until time.Time
}

// Get returns a token that is still valid. Its errors are those of Fetch.
func (t *Token) Get(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token != "" && time.Now().Before(t.until) {
		return t.token, nil
	}
	token, lasts, err := t.Fetch(ctx)
	if err != nil {
		return "", err
	}
	t.token, t.until = token, time.Now().Add(lasts-min(tokenMargin, lasts/2))
	return token, nil
}

// Reject makes the next Get fetch another token if this one is still the current one: the
// platform refused it.
func (t *Token) Reject(token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = ""
	}
}

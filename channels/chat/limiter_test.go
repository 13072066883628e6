package chat_test

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// limited makes calls through a limiter and counts those that reach the platform.
type limited struct {
	chat.Limiter
	calls  int
	answer *remote.Error // of the next call
}

func (l *limited) post(ctx context.Context, chat string) error {
	return l.Do(ctx, "post", chat, true, func(context.Context) error {
		l.calls++
		if failed := l.answer; failed != nil {
			l.answer = nil
			return failed
		}
		return nil
	})
}

func refusal(wait time.Duration) *remote.Error {
	return &remote.Error{Status: http.StatusTooManyRequests, RetryAfter: wait}
}

func TestLimiter(t *testing.T) {
	t.Parallel()
	t.Run("a call that was refused is not made again too early", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l := limited{answer: refusal(7 * time.Second)}
			require.Error(t, l.post(t.Context(), "a"))
			require.Equal(t, 7*time.Second, remote.As(l.post(t.Context(), "a")).RetryAfter)
			require.NoError(t, l.post(t.Context(), "b"), "another chat")
			require.True(t, l.Busy("edit", "a"), "for what may be skipped, a chat has one limit")
			time.Sleep(7 * time.Second)
			require.NoError(t, l.post(t.Context(), "a"))
			require.Equal(t, 3, l.calls)
		})
	})
	t.Run("short waits are waited for, unless the call may be skipped", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			l := limited{Limiter: chat.Limiter{Patience: 5 * time.Second}}
			l.Hold("post", "a", 2*time.Second)
			l.Hold("post", "a", time.Second) // the longer one counts
			require.Error(t, l.post(chat.Skippable(t.Context()), "a"))
			began := time.Now()
			require.NoError(t, l.post(t.Context(), "a"))
			require.Equal(t, 2*time.Second, time.Since(began))
			l.Hold("post", "a", time.Minute)
			require.Equal(t, time.Minute, remote.As(l.post(t.Context(), "a")).RetryAfter, "too long to wait")
		})
	})
	t.Run("a limit of all calls", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var l limited
			l.Hold("", "", time.Second)
			require.True(t, l.Busy("edit", "b"))
			require.Error(t, l.post(t.Context(), "a"))
			time.Sleep(time.Second)
			require.NoError(t, l.post(t.Context(), "a"))
		})
	})
}

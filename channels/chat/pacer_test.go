package chat_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestPacer(t *testing.T) {
	t.Parallel()
	paced := func() *chat.Pacer {
		return &chat.Pacer{Service: "test", Of: func(string) chat.Rhythm { return chat.Rhythm{Every: time.Second, Burst: 3} }}
	}
	passed := func(p *chat.Pacer, ctx context.Context, of string) time.Duration {
		start := time.Now()
		require.NoError(t, p.Wait(ctx, of))
		return time.Since(start)
	}

	t.Run("messages wait after a burst, each chat for itself", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p, ctx := paced(), t.Context()
			for range 3 {
				require.Zero(t, passed(p, ctx, "a"))
			}
			require.Equal(t, time.Second, passed(p, ctx, "a"))
			require.Equal(t, time.Second, passed(p, ctx, "a"))
			require.Zero(t, passed(p, ctx, "b"))
		})
	})

	t.Run("what only shows progress leaves the burst to the replies", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p, optional := paced(), chat.Skippable(t.Context())
			require.Zero(t, passed(p, optional, "a"))
			err := p.Wait(optional, "a")
			require.Equal(t, time.Second, remote.As(err).RetryAfter)
			require.False(t, remote.As(err).Permanent())
			require.Zero(t, passed(p, t.Context(), "a"))
			time.Sleep(2 * time.Second)
			require.Zero(t, passed(p, optional, "a"))
		})
	})

	t.Run("a message that would wait for long is refused", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := paced()
			waited := make(chan error, 20)
			for range 20 {
				go func() { waited <- p.Wait(t.Context(), "a") }()
			}
			refused := 0
			for range 20 {
				if err := <-waited; err != nil {
					require.Equal(t, 6*time.Second, remote.As(err).RetryAfter)
					refused++
				}
			}
			require.Equal(t, 20-3-5, refused)
		})
	})

	t.Run("the end of the context ends the wait", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			p := paced()
			for range 3 {
				require.NoError(t, p.Wait(t.Context(), "a"))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			defer cancel()
			require.ErrorIs(t, p.Wait(ctx, "a"), context.DeadlineExceeded)
		})
	})
}

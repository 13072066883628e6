package chat

import (
	"context"
	"log/slog"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// The pauses between attempts.
const (
	firstPause = 100 * time.Millisecond
	LastPause  = 30 * time.Second
)

// Retry calls attempt until it succeeds, fails permanently (see [remote.Error]) or ctx
// ends, with growing pauses that are at least as long as the platform asked for. An attempt that
// lasted a while, such as a connection, starts over with a short pause.
func Retry(ctx context.Context, log *slog.Logger, what string, attempt func(context.Context) error) error {
	for pause := firstPause; ; pause = min(2*pause, LastPause) {
		began := time.Now()
		err := attempt(ctx)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Since(began) > LastPause {
			pause = firstPause
		}
		wait := pause
		if failed := remote.As(err); failed != nil {
			if failed.Permanent() {
				return err
			}
			wait = max(wait, failed.RetryAfter)
		}
		log.Warn("call failed, will try again", "doing", what, "in", wait.String(), "err", err)
		if !Sleep(ctx, wait) {
			return ctx.Err()
		}
	}
}

// Sleep waits for d and reports whether ctx is still on.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

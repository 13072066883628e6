package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// heartbeatInterval is well below the heartbeat timeout of 30 s, and long enough that
// short activities send no heartbeat.
const heartbeatInterval = 5 * time.Second

// errRelease is the cause of an activity's context if another attempt will follow: the
// worker shuts down or has lost its connection to Temporal.
var errRelease = errors.New("the worker released the activity")

// startHeartbeat heartbeats until done is called. The cause of the returned context is
// [tool.ErrStopped] if the user stopped the turn, and otherwise [errRelease]. The
// caller must call done before it returns.
func startHeartbeat(parent context.Context) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	finished := make(chan struct{})
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		ticker := time.NewTicker(heartbeatInterval)
		defer ticker.Stop()
		for {
			select {
			case <-finished:
				return
			case <-ticker.C:
				activity.RecordHeartbeat(parent)
			case <-parent.Done():
				cancel(endCause(parent))
				return
			}
		}
	}()
	return ctx, func() {
		close(finished)
		<-joined
		cancel(context.Canceled)
	}
}

// endCause maps the cause with which the SDK ended an activity's context. Only a
// cancellation comes from the user. After failed heartbeats, or a timeout while the
// machine slept, the next attempt re-attaches to a running command, which must not end.
func endCause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if temporal.IsCanceledError(cause) {
		return tool.ErrStopped
	}
	return fmt.Errorf("%w: %w", errRelease, cause)
}

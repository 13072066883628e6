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

// heartbeatInterval is how often a running activity says that it is alive: often
// enough for a timeout of 30 s, seldom enough that a short activity never does.
const heartbeatInterval = 5 * time.Second

// errHandBack is the cause of an activity's end when another attempt will follow:
// its worker shuts down, or has lost touch with the engine.
var errHandBack = errors.New("the worker gives the activity back")

// alive heartbeats for as long as the activity runs, whatever it is busy with,
// and returns a context whose cause tells why it ended: [tool.ErrStopped] when
// the user stopped the turn, else [errHandBack]. The caller must call done before
// it returns.
func alive(parent context.Context) (ctx context.Context, done func()) {
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

// endCause says in our words why the SDK ended an activity's context. Only the
// engine's word that it is cancelled is the user's: heartbeats that fail for a
// while, or an attempt that timed out while the machine slept, are no reason to
// end a command that the next attempt will find again.
func endCause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if temporal.IsCanceledError(cause) {
		return tool.ErrStopped
	}
	return fmt.Errorf("%w: %w", errHandBack, cause)
}

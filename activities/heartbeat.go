package activities

import (
	"context"
	"errors"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// heartbeatInterval is how often a running activity says that it is alive: often
// enough for a timeout of 30 s, seldom enough that a short activity never does.
const heartbeatInterval = 5 * time.Second

// errShutdown is the cause of an activity's end when its worker shuts down.
var errShutdown = errors.New("the worker is shutting down")

// alive heartbeats for as long as the activity runs, whatever it is busy with,
// and returns a context whose cause tells why it ended: [errShutdown], or
// [tool.ErrStopped] when the user stopped the turn or the run is closed. The
// caller must call done before it returns.
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

// endCause says in our words why the SDK ended an activity's context.
func endCause(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, worker.ErrWorkerShutdown) || errors.Is(cause, context.DeadlineExceeded) {
		return errShutdown
	}
	return tool.ErrStopped
}

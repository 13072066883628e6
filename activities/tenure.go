package activities

import (
	"context"
	"time"

	"go.temporal.io/sdk/activity"
)

// Tenure is how long a process keeps the activities that it runs. The zero value keeps
// them until they are done.
type Tenure struct {
	Over <-chan struct{} // closed when all are released for another process
	// Silence is how long the process may not run before others take its activities over;
	// 0: any time.
	Silence time.Duration
}

type tenureKey struct{}

// WithTenure returns a context for activities.
func WithTenure(ctx context.Context, t Tenure) context.Context {
	return context.WithValue(ctx, tenureKey{}, t)
}

func tenureOf(ctx context.Context) Tenure {
	t, _ := ctx.Value(tenureKey{}).(Tenure)
	return t
}

// untilStop returns a context that ends as soon as the worker begins to stop.
func untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopping := activity.GetWorkerStopChannel(ctx)
	go func() {
		select {
		case <-stopping:
			cancel(errStopping)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(nil) }
}

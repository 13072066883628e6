package activities

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

func TestHeartbeatReportsWhyAnActivityEnded(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		cause   error
		stopped bool
	}{
		{"the user stopped the turn", temporal.NewCanceledError(), true},
		{"the worker shuts down", worker.ErrWorkerShutdown, false},
		{"a person paused the activity", activity.ErrActivityPaused, false},
		{"another attempt took over", serviceerror.NewNotFound("activity not found"), false},
		{"the engine was away for as long as a heartbeat may be", serviceerror.NewUnavailable("connection refused"), false},
		{"it took too long", context.DeadlineExceeded, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			parent, cancel := context.WithCancelCause(t.Context())
			ctx, done := startHeartbeat(parent)
			defer done()
			cancel(tt.cause)
			<-ctx.Done()
			require.Equal(t, tt.stopped, errors.Is(context.Cause(ctx), tool.ErrStopped))
			err := ctxFailure(ctx)
			require.Equal(t, tt.stopped, temporal.IsCanceledError(err))
			if !tt.stopped {
				given, ok := errors.AsType[*temporal.ApplicationError](err)
				require.True(t, ok)
				require.False(t, given.NonRetryable())
				require.Equal(t, releaseDelay, given.NextRetryDelay())
				require.ErrorIs(t, context.Cause(ctx), tt.cause)
			}
		})
	}

	t.Run("a truncated call is not a failure of the service", func(t *testing.T) {
		t.Parallel()
		parent, cancel := context.WithCancelCause(t.Context())
		ctx, done := startHeartbeat(parent)
		defer done()
		cancel(temporal.NewCanceledError())
		<-ctx.Done()
		require.True(t, temporal.IsCanceledError(failure(parent, ctx, errors.New("cut"))))
		require.NoError(t, failure(parent, ctx, nil), "what was done is done")
	})
}

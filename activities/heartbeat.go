package activities

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	// heartbeatInterval is well below the heartbeat timeout of 30 s, and long enough that
	// short activities send no heartbeat.
	heartbeatInterval = 5 * time.Second
	// pulseInterval is how often an activity notices that time passes.
	pulseInterval = 500 * time.Millisecond
)

var (
	// errRelease is the cause of an activity's context if another attempt will follow: the
	// worker stops, or has lost its connection to Temporal.
	errRelease = errors.New("the worker released the activity")
	// errStopping is the errRelease of a worker that was asked to stop.
	errStopping = fmt.Errorf("%w: it stops", errRelease)
	// errFrozen is the errRelease of a process that did not run for a while.
	errFrozen = fmt.Errorf("%w: the process was frozen, and another worker may have taken over", errRelease)
)

// startHeartbeat heartbeats until done is called. The cause of the returned context is
// [tool.ErrStopped] if the user stopped the turn, and otherwise [errRelease]. The
// caller must call done before it returns.
func startHeartbeat(parent context.Context) (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	p := &pulse{limit: tenureOf(parent).Silence, end: cancel}
	p.beat()
	lost := lostAttempts(parent)
	finished := make(chan struct{})
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		heartbeats, pulses := time.NewTicker(heartbeatInterval), time.NewTicker(pulseInterval)
		defer heartbeats.Stop()
		defer pulses.Stop()
		for {
			select {
			case <-finished:
				return
			case <-pulses.C:
				if p.check() != nil {
					return
				}
				p.beat()
			case <-heartbeats.C:
				activity.RecordHeartbeat(parent, lost)
			case <-tenureOf(parent).Over:
				cancel(errStopping)
				return
			case <-parent.Done():
				cancel(endCause(parent))
				return
			}
		}
	}()
	return tool.WithCheck(ctx, p.check), func() {
		close(finished)
		<-joined
		cancel(context.Canceled)
	}
}

// attend is startHeartbeat for an activity of a turn. EndTurn ends it, wherever it runs:
// Temporal tells it only with its next heartbeat.
func (a *Agent) attend(parent context.Context, turn string) (ctx context.Context, done func()) {
	ctx, stop := startHeartbeat(parent)
	ctx, cancel := context.WithCancelCause(ctx)
	ended, unsubscribe := a.Events.Subscribe(endTopic(turn))
	go func() {
		if _, open := <-ended; open {
			cancel(tool.ErrStopped)
		}
	}()
	return ctx, func() {
		unsubscribe()
		cancel(context.Canceled)
		stop()
	}
}

// endTopic is the topic of an event at the end of a turn that is stopped.
func endTopic(turn string) string { return "end/" + turn }

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

// pulse notices that the process was frozen. Others may have taken its activities over.
type pulse struct {
	limit time.Duration // 0: any
	last  atomic.Int64  // wall clock: a machine that sleeps stops the monotonic one
	end   context.CancelCauseFunc
}

func (p *pulse) beat() { p.last.Store(time.Now().UnixNano()) }

// check ends the activity and returns an error if the last beat was too long ago.
func (p *pulse) check() error {
	if p.limit == 0 || time.Now().UnixNano()-p.last.Load() < int64(p.limit) {
		return nil
	}
	p.end(errFrozen)
	return errFrozen
}

// lostAttempts is the number of earlier attempts that ended with their worker. Heartbeats
// carry it.
func lostAttempts(ctx context.Context) (n int) {
	if activity.IsActivity(ctx) && activity.HasHeartbeatDetails(ctx) {
		_ = activity.GetHeartbeatDetails(ctx, &n)
	}
	return n
}

// attemptOf is the number of the attempt at the service behind an activity, from 1.
func attemptOf(ctx context.Context) int {
	return max(1, int(activity.GetInfo(ctx).Attempt)-lostAttempts(ctx))
}

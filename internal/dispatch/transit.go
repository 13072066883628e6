package dispatch

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// transit knows which activities run in this process, and when the connection to Temporal
// broke. What Temporal had just given to the process then may never have arrived.
type transit struct {
	interceptor.InterceptorBase

	broken atomic.Bool // a call failed for lack of a connection

	mu      sync.Mutex
	running map[attempt]bool
}

// attempt is one attempt of an activity.
type attempt struct {
	run, activity string
	number        int32
}

// call is a [grpc.UnaryClientInterceptor].
func (t *transit) call(
	ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	err := invoke(ctx, method, request, reply, conn, options...)
	if status.Code(err) == codes.Unavailable {
		t.broken.Store(true)
	}
	return err
}

// InterceptActivity implements [interceptor.WorkerInterceptor].
func (t *transit) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	arrived := &arrivedActivity{transit: t}
	arrived.Next = next
	return arrived
}

type arrivedActivity struct {
	interceptor.ActivityInboundInterceptorBase

	transit *transit
}

// ExecuteActivity implements [interceptor.ActivityInboundInterceptor].
func (a *arrivedActivity) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	info := activity.GetInfo(ctx)
	this := attempt{info.WorkflowExecution.RunID, info.ActivityID, info.Attempt}
	a.transit.set(this, true)
	defer a.transit.set(this, false)
	return a.Next.ExecuteActivity(ctx, in)
}

func (t *transit) set(a attempt, runs bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case !runs:
		delete(t.running, a)
	case t.running == nil:
		t.running = map[attempt]bool{a: true}
	default:
		t.running[a] = true
	}
}

func (t *transit) runs(a attempt) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running[a]
}

// RepeatLost has the activities repeated that Temporal gave to this process, the worker of
// that identity, and that were lost with the connection, until ctx ends. Temporal itself would
// wait for their heartbeat timeout.
func (d *Dispatcher) RepeatLost(ctx context.Context, identity string) {
	ticker := time.NewTicker(PresenceInterval)
	defer ticker.Stop()
	var m missing
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			d.report(ctx, "activities that were lost with the connection not repeated", m.look(ctx, d, identity))
		}
	}
}

// missing is a series of looks for the activities that Temporal gave to this process and
// that did not arrive. One look is not enough: an activity may be on its way.
type missing struct {
	looks int // that are left
	found map[attempt]bool
}

// look fails the activities that are missing since the last look. It costs nothing until the
// connection was lost and is back. A call that cannot be made breaks it again.
func (m *missing) look(ctx context.Context, d *Dispatcher, identity string) error {
	if d.transit.broken.Swap(false) {
		if d.checkHealth(ctx) != nil {
			d.transit.broken.Store(true)
			return nil //nolint:nilerr // the SDK logs that Temporal is away
		}
		*m = missing{looks: 2}
	}
	if m.looks == 0 {
		return nil
	}
	m.looks--
	ids, err := d.runningWorkflows(ctx)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	before, now := m.found, map[attempt]bool{}
	lost, err := d.failActivities(ctx, ids, func(run string, pending *workflowpb.PendingActivityInfo) bool {
		this := attempt{run, pending.GetActivityId(), pending.GetAttempt()}
		if pending.GetLastWorkerIdentity() != identity || d.transit.runs(this) {
			return false
		}
		mu.Lock()
		defer mu.Unlock()
		now[this] = true
		return before[this]
	})
	m.found = now
	if lost > 0 {
		d.log.Warn("repeated activities that were lost with the connection to Temporal", "activities", lost)
	}
	return err
}

func (d *Dispatcher) checkHealth(ctx context.Context) error {
	return within(ctx, func(ctx context.Context) error {
		_, err := d.sdk.CheckHealth(ctx, nil)
		return err
	})
}

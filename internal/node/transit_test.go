package node_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/engine/enginetest"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// line is a TCP connection to the engine that can lose what the engine says.
type line struct {
	address string
	mu      sync.RWMutex // held for writing while nothing arrives
	conns   chan net.Conn
}

func newLine(t *testing.T, to string) *line {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &line{address: listener.Addr().String(), conns: make(chan net.Conn, 100)}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(context.Background(), "tcp", to)
			if err != nil {
				_ = near.Close()
				continue
			}
			l.conns <- near
			go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
			go func() { _, _ = io.Copy(held{near, &l.mu}, far); _ = near.Close() }()
		}
	}()
	return l
}

// cut ends all connections.
func (l *line) cut() {
	for {
		select {
		case conn := <-l.conns:
			_ = conn.Close()
		default:
			return
		}
	}
}

// held is a connection that waits with what is written to it.
type held struct {
	net.Conn

	mu *sync.RWMutex
}

func (h held) Write(p []byte) (int, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.Conn.Write(p)
}

// TestActivityLostInTransit loses the connection on which Temporal hands over an activity:
// it is repeated soon, not after its timeout.
func TestActivityLostInTransit(t *testing.T) {
	t.Parallel()
	engine := enginetest.Start(t)
	l := newLine(t, engine.Address())
	c, err := dispatch.Connect(t.Context(), dispatch.ConnectOptions{
		Config: config.Temporal{Namespace: "default"}, Address: l.address, Identity: "worker/1",
		Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	s, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(t.TempDir(), "store.db")})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	d, err := dispatch.NewDispatcher(dispatch.Options{Client: c, Store: s, Events: event.NewLocal(), Limits: protocol.NewLimits(3, 0)})
	require.NoError(t, err)
	steps := sdk.New(c.SDK(), "steps", sdk.Options{DisableWorkflowWorker: true})
	attempts := make(chan int32, 10)
	steps.RegisterActivityWithOptions(func(ctx context.Context) error {
		attempts <- activity.GetInfo(ctx).Attempt
		return nil
	}, activity.RegisterOptions{Name: "Step"})
	require.NoError(t, steps.Start())
	t.Cleanup(steps.Stop)
	go d.RepeatLost(t.Context(), "worker/1")

	direct, err := client.DialContext(t.Context(), client.Options{HostPort: engine.Address(), Identity: "other/1"})
	require.NoError(t, err)
	t.Cleanup(direct.Close)
	flows := sdk.New(direct, protocol.Names{}.AgentQueue(), sdk.Options{})
	flows.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: "steps", StartToCloseTimeout: 5 * time.Minute, RetryPolicy: &temporal.RetryPolicy{InitialInterval: time.Minute},
		})
		return workflow.ExecuteActivity(ctx, "Step").Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "OneStep"})
	require.NoError(t, flows.Start())
	t.Cleanup(flows.Stop)

	l.mu.Lock()
	run, err := direct.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "one", TaskQueue: protocol.Names{}.AgentQueue()}, "OneStep")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		described, err := direct.DescribeWorkflowExecution(t.Context(), "one", "")
		pending := described.GetPendingActivities()
		return err == nil && len(pending) == 1 && pending[0].GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED
	}, 20*time.Second, 5*time.Millisecond)
	l.cut()
	l.mu.Unlock()

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	require.NoError(t, run.Get(ctx, nil))
	require.Equal(t, int32(2), <-attempts, "the first attempt never arrived")
}

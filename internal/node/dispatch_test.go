package node_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	sdk "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/engine/enginetest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// holdingWorker is a worker that says when it holds the activity Step. Until
// release is closed it does not let go of it.
func holdingWorker(t *testing.T, address, identity string, release <-chan struct{}) (client.Client, sdk.Worker, <-chan struct{}) {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{
		HostPort: address, Identity: identity, Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	held := make(chan struct{}, 1)
	w := sdk.New(c, protocol.Names{}.AgentQueue(), sdk.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: 5 * time.Minute,
			RetryPolicy:         &temporal.RetryPolicy{InitialInterval: time.Minute},
		})
		return workflow.ExecuteActivity(ctx, "Step").Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "OneStep"})
	w.RegisterActivityWithOptions(func(context.Context) error {
		held <- struct{}{}
		<-release
		return nil
	}, activity.RegisterOptions{Name: "Step"})
	require.NoError(t, w.Start())
	return c, w, held
}

func TestRecover(t *testing.T) {
	t.Parallel()
	engine := enginetest.Start(t)
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	c, dying, held := holdingWorker(t, engine.Address(), "dead/1", never)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "one", TaskQueue: protocol.Names{}.AgentQueue()}, "OneStep")
	require.NoError(t, err)
	<-held
	dying.Stop()

	at := make(chan struct{})
	close(at)
	living, w, _ := holdingWorker(t, engine.Address(), "alive/1", at)
	t.Cleanup(w.Stop)
	recover := func(prefix string) int {
		taken, err := dispatch.New(living, "default", protocol.Names{}).Recover(t.Context(), []string{"one", "never there"},
			func(identity string) bool { return strings.HasPrefix(identity, prefix) })
		require.NoError(t, err)
		return taken
	}
	require.Equal(t, 0, recover("somebody else/"), "an activity of a worker that may live is left alone")
	require.Equal(t, 1, recover("dead/"))
	// Its heartbeat would be missed after minutes, its retry policy wait for one.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	require.NoError(t, run.Get(ctx, nil))
	require.Equal(t, 0, recover("dead/"), "a closed workflow has nothing to take back")
}

func TestRecoverFindsUnlistedWorkflows(t *testing.T) {
	t.Parallel()
	engine := enginetest.Start(t)
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	c, dying, held := holdingWorker(t, engine.Address(), "dead/1", never)
	_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "one", TaskQueue: protocol.Names{}.AgentQueue()}, "OneStep")
	require.NoError(t, err)
	<-held
	dying.Stop()
	require.Eventually(t, func() bool {
		taken, err := dispatch.New(c, "default", protocol.Names{}).Recover(t.Context(), nil, func(string) bool { return true })
		return err == nil && taken == 1
	}, 30*time.Second, 10*time.Millisecond)
}

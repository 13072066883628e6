package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/engine"
	"github.com/holdfast-ai/holdfast/internal/engine/enginetest"
)

// doomed names the engine's directory in a process that a test starts and kills.
const doomed = "HOLDFAST_TEST_DOOMED"

// TestMain runs a doomed process instead of the tests if the environment says so.
func TestMain(m *testing.M) {
	dir := os.Getenv(doomed)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := runDoomed(dir); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// runDoomed runs an engine on a directory and starts workflows, until it is
// killed.
func runDoomed(dir string) error {
	e, err := engine.Start(context.Background(), engine.Options{DataDir: dir, UIPort: -1})
	if err != nil {
		return err
	}
	c, err := client.Dial(client.Options{HostPort: e.Address(), Logger: discard})
	if err != nil {
		return err
	}
	if err := recoveryWorker(c).Start(); err != nil {
		return err
	}
	for i := 0; ; i++ {
		id := fmt.Sprintf("run/%d/%d", os.Getpid(), i)
		if _, err := c.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{
			ID: id, TaskQueue: "recovery", WorkflowTaskTimeout: 5 * time.Second,
		}, "Steps", 3); err != nil {
			return err
		}
		fmt.Println(id)
	}
}

// recoveryWorker runs the workflow Steps, which takes n activities.
func recoveryWorker(c client.Client) worker.Worker {
	w := worker.New(c, "recovery", worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, n int) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: 30 * time.Second,
			HeartbeatTimeout:    20 * time.Second,
			RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 100 * time.Millisecond, BackoffCoefficient: 1},
		})
		for range n {
			if err := workflow.ExecuteActivity(ctx, "Step").Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	}, workflow.RegisterOptions{Name: "Steps"})
	w.RegisterActivityWithOptions(func(context.Context) error { return nil }, activityName("Step"))
	return w
}

// process starts this test binary as a doomed process; lines is what it prints.
func process(t *testing.T, dir string) (kill func(), lines *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), doomed+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}, bufio.NewScanner(out)
}

// TestKill kills an engine repeatedly while it works, and then expects every accepted
// workflow to complete.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	accepted := map[string]bool{}
	for range 6 {
		kill, lines := process(t, dir)
		for i := 0; i < 8 && lines.Scan(); i++ {
			accepted[lines.Text()] = true
		}
		kill()
	}
	require.GreaterOrEqual(t, len(accepted), 40)
	e := start(t, engine.Options{DataDir: dir, UIPort: -1})
	c := dial(t, e)
	w := recoveryWorker(c)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	for id := range accepted {
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		require.NoError(t, c.GetWorkflow(ctx, id, "").Get(ctx, nil), id)
		cancel()
	}
}

// TestCancel expects a cancellation to be pushed to the worker: the activity's next
// heartbeat is due only after 24 s.
func TestCancel(t *testing.T) {
	t.Parallel()
	c := dial(t, enginetest.Start(t))
	running, canceled := make(chan struct{}), make(chan struct{})
	w := worker.New(c, "q", worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			StartToCloseTimeout: time.Minute,
			HeartbeatTimeout:    30 * time.Second,
			WaitForCancellation: true,
		})
		return workflow.ExecuteActivity(ctx, "Hang").Get(ctx, nil)
	}, workflow.RegisterOptions{Name: "Hanging"})
	w.RegisterActivityWithOptions(func(ctx context.Context) error {
		activity.RecordHeartbeat(ctx)
		close(running)
		<-ctx.Done()
		close(canceled)
		return ctx.Err()
	}, activityName("Hang"))
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "q"}, "Hanging")
	require.NoError(t, err)
	<-running
	began := time.Now()
	require.NoError(t, c.CancelWorkflow(t.Context(), run.GetID(), run.GetRunID()))
	select {
	case <-canceled:
		t.Logf("canceled after %s", time.Since(began))
	case <-time.After(10 * time.Second):
		t.Fatal("the cancel was not pushed")
	}
}

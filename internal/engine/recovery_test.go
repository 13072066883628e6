package engine_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
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

// doomed is set in the process that a test starts to kill it.
const doomed = "HOLDFAST_TEST_DOOMED"

// TestMain runs a doomed process instead of the tests where the environment
// says so.
func TestMain(m *testing.M) {
	mode, arg, found := strings.Cut(os.Getenv(doomed), "=")
	if !found {
		os.Exit(m.Run())
	}
	if err := runDoomed(mode, arg); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// runDoomed runs until it is killed: an engine on directory arg with workflows
// (mode "engine"), or a worker of the engine at address arg that holds its
// first activity for ever (mode "worker").
func runDoomed(mode, arg string) error {
	address := arg
	if mode != "worker" {
		e, err := engine.Start(context.Background(), engine.Options{DataDir: arg, UIPort: -1})
		if err != nil {
			return err
		}
		address = e.Address()
	}
	c, err := client.Dial(client.Options{HostPort: address, Logger: discard})
	if err != nil {
		return err
	}
	if err := recoveryWorker(c, mode != "engine").Start(); err != nil {
		return err
	}
	if mode == "both" {
		if _, err := c.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{
			ID: "steps", TaskQueue: "recovery", WorkflowTaskTimeout: 5 * time.Second,
		}, "Steps", 2); err != nil {
			return err
		}
	}
	for i := 0; mode == "engine"; i++ {
		id := fmt.Sprintf("run/%d/%d", os.Getpid(), i)
		if _, err := c.ExecuteWorkflow(context.Background(), client.StartWorkflowOptions{
			ID: id, TaskQueue: "recovery", WorkflowTaskTimeout: 5 * time.Second,
		}, "Steps", 3); err != nil {
			return err
		}
		fmt.Println(id)
	}
	select {}
}

// recoveryWorker runs the workflow Steps, which takes n activities. An activity
// that hangs says so and never ends.
func recoveryWorker(c client.Client, hang bool) worker.Worker {
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
	w.RegisterActivityWithOptions(func(ctx context.Context) error {
		if hang {
			fmt.Println(activity.GetInfo(ctx).ActivityID)
			select {}
		}
		return nil
	}, activityName("Step"))
	return w
}

// process starts this test binary as a doomed process; lines is what it prints.
func process(t *testing.T, mode, arg string) (pid string, kill func(), lines *bufio.Scanner) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), doomed+"="+mode+"="+arg)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return strconv.Itoa(cmd.Process.Pid), func() {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}, bufio.NewScanner(out)
}

// TestKill kills an engine in the middle of its work, again and again, and then
// expects every workflow that it accepted to complete.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	accepted := map[string]bool{}
	for range 6 {
		_, kill, lines := process(t, "engine", dir)
		for i := 0; i < 8 && lines.Scan(); i++ {
			accepted[lines.Text()] = true
		}
		kill()
	}
	require.GreaterOrEqual(t, len(accepted), 40)
	e := start(t, engine.Options{DataDir: dir, UIPort: -1})
	c := dial(t, e)
	w := recoveryWorker(c, false)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	for id := range accepted {
		ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
		require.NoError(t, c.GetWorkflow(ctx, id, "").Get(ctx, nil), id)
		cancel()
	}
}

// TestRelease kills a worker that holds an activity and expects another one to
// run it long before the heartbeat timeout of 20 s.
func TestRelease(t *testing.T) {
	t.Parallel()

	t.Run("a worker alone died", func(t *testing.T) {
		t.Parallel()
		e := enginetest.Start(t)
		c := dial(t, e)
		run := startSteps(t, c)
		pid, kill, lines := process(t, "worker", e.Address())
		require.True(t, lines.Scan())
		kill()
		takeOver(t, c, run, pid)
	})

	t.Run("its engine died with it", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		pid, kill, lines := process(t, "both", dir)
		require.True(t, lines.Scan())
		kill()
		c := dial(t, start(t, engine.Options{DataDir: dir, UIPort: -1}))
		takeOver(t, c, c.GetWorkflow(t.Context(), "steps", ""), pid)
	})
}

func startSteps(t *testing.T, c client.Client) client.WorkflowRun {
	run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
		ID: "steps", TaskQueue: "recovery", WorkflowTaskTimeout: 5 * time.Second,
	}, "Steps", 2)
	require.NoError(t, err)
	return run
}

// takeOver releases what process pid held and completes run with a worker of
// its own.
func takeOver(t *testing.T, c client.Client, run client.WorkflowRun, pid string) {
	began := time.Now()
	w := recoveryWorker(c, false)
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	released, err := engine.Release(t.Context(), c, "default", func(identity string) bool {
		return strings.HasPrefix(identity, pid+"@")
	})
	require.NoError(t, err)
	require.Equal(t, 1, released)
	t.Logf("released after %s", time.Since(began))
	require.NoError(t, run.Get(t.Context(), nil))
	t.Logf("completed after %s", time.Since(began))
	require.Less(t, time.Since(began), 15*time.Second)
}

// TestCancel expects the cancel of an activity to be pushed to its worker: its
// next heartbeat goes out only after 24 s.
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

package engine_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/engine"
	"github.com/holdfast-ai/holdfast/internal/engine/enginetest"
)

var topic = temporal.NewSearchAttributeKeyKeyword("Topic")

func TestStart(t *testing.T) {
	t.Parallel()

	t.Run("a restarted engine has its runs", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		e := start(t, engine.Options{DataDir: dir, UIPort: -1})
		run, err := dial(t, e).ExecuteWorkflow(t.Context(),
			client.StartWorkflowOptions{ID: "kept", TaskQueue: "q"}, "Nothing")
		require.NoError(t, err)
		e.Stop()

		c := dial(t, start(t, engine.Options{DataDir: dir, UIPort: -1}))
		startWorker(t, c, "q")
		require.NoError(t, c.GetWorkflow(t.Context(), "kept", run.GetRunID()).Get(t.Context(), nil))
	})

	t.Run("search attributes are usable immediately, even when added later", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for _, names := range [][]string{{"Topic"}, {"Other", "Topic"}, {"Third"}} {
			e := start(t, engine.Options{DataDir: dir, UIPort: -1, SearchAttributes: names})
			c := dial(t, e)
			_, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{
				TaskQueue: "q",
				TypedSearchAttributes: temporal.NewSearchAttributes(
					topic.ValueSet("deploys"), temporal.NewSearchAttributeKeyKeyword(names[0]).ValueSet("x")),
			}, "Nothing")
			require.NoError(t, err)
			require.Eventually(t, func() bool {
				count, err := c.CountWorkflow(t.Context(), &workflowservice.CountWorkflowExecutionsRequest{
					Query: names[0] + " = 'x' OR Topic = 'x'",
				})
				return err == nil && count.GetCount() >= 1
			}, 20*time.Second, 10*time.Millisecond)
			e.Stop()
		}
	})

	t.Run("retention follows the options", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		for _, days := range []int{3, 5} {
			retention := time.Duration(days) * 24 * time.Hour
			e := start(t, engine.Options{DataDir: dir, UIPort: -1, Namespace: "other", Retention: retention})
			described, err := dial(t, e).WorkflowService().DescribeNamespace(t.Context(),
				&workflowservice.DescribeNamespaceRequest{Namespace: "other"})
			require.NoError(t, err)
			require.Equal(t, retention, described.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration())
			e.Stop()
		}
	})

	t.Run("a schedule does not wait long for a task that was lost with the engine", func(t *testing.T) {
		t.Parallel()
		c := dial(t, start(t, engine.Options{DataDir: t.TempDir(), UIPort: -1}))
		_, err := c.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
			ID: "daily", Spec: client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: 24 * time.Hour}}},
			Action: &client.ScheduleWorkflowAction{ID: "daily", Workflow: "Nothing", TaskQueue: "q"},
		})
		require.NoError(t, err)
		started, err := c.GetWorkflowHistory(t.Context(), "temporal-sys-scheduler:daily", "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT).Next()
		require.NoError(t, err)
		require.LessOrEqual(t, started.GetWorkflowExecutionStartedEventAttributes().GetWorkflowTaskTimeout().AsDuration(), 5*time.Second)
	})

	t.Run("several run side by side", func(t *testing.T) {
		t.Parallel()
		var group sync.WaitGroup
		for range 4 {
			dir := t.TempDir()
			group.Go(func() {
				e, err := engine.Start(t.Context(), engine.Options{DataDir: dir, UIPort: -1})
				if err != nil {
					t.Error(err)
					return
				}
				e.Stop()
			})
		}
		group.Wait()
	})

	t.Run("a path may hold any character", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "a b?c%20#d")
		start(t, engine.Options{DataDir: dir, UIPort: -1})
		require.FileExists(t, filepath.Join(dir, "engine.db"))
	})

	t.Run("the database is private", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		start(t, engine.Options{DataDir: dir, UIPort: -1})
		info, err := os.Stat(filepath.Join(dir, "engine.db"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
}

// TestGoroutines runs alone: other engines would count.
func TestGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	start(t, engine.Options{DataDir: t.TempDir(), UIPort: -1})
	require.Less(t, runtime.NumGoroutine()-before, 1200)
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()

	t.Run("a data directory that is in use", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		e := start(t, engine.Options{DataDir: dir, UIPort: -1})
		_, err := engine.Start(t.Context(), engine.Options{DataDir: dir, UIPort: -1})
		require.ErrorIs(t, err, engine.ErrInUse)
		e.Stop()
		start(t, engine.Options{DataDir: dir, UIPort: -1})
	})

	t.Run("a port in use, which it names", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		for key, opts := range map[string]engine.Options{
			"temporal.port":    {Port: port, UIPort: -1},
			"temporal.ui_port": {UIPort: port},
		} {
			opts.DataDir = t.TempDir()
			_, err := engine.Start(t.Context(), opts)
			require.ErrorContains(t, err, strconv.Itoa(port))
			require.ErrorContains(t, err, key)
		}
	})

	databases := map[string]func(t *testing.T, path string){
		"a file that is not a database": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte("this is a text, and a long one at that"), 0o600))
		},
		"a database of another program": func(t *testing.T, path string) {
			execSQL(t, path, "CREATE TABLE theirs (x)")
		},
		"a schema of another version": func(t *testing.T, path string) {
			e := start(t, engine.Options{DataDir: filepath.Dir(path), UIPort: -1})
			e.Stop()
			execSQL(t, path, "UPDATE holdfast_schema SET version = '99/99'")
		},
		"a database that was overwritten": func(t *testing.T, path string) {
			e := start(t, engine.Options{DataDir: filepath.Dir(path), UIPort: -1})
			e.Stop()
			require.NoError(t, os.Remove(path+"-wal"))
			require.NoError(t, os.Remove(path+"-shm"))
			require.NoError(t, os.WriteFile(path, make([]byte, 8192), 0o600))
		},
	}
	for name, spoil := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "engine.db")
			spoil(t, path)
			_, err := engine.Start(t.Context(), engine.Options{DataDir: filepath.Dir(path), UIPort: -1})
			require.ErrorContains(t, err, path)
			require.ErrorContains(t, err, "move it aside")
		})
	}

	t.Run("a directory that is not writable", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(dir, nil, 0o600))
		_, err := engine.Start(t.Context(), engine.Options{DataDir: dir})
		require.ErrorContains(t, err, dir)
	})

	t.Run("an unknown durability", func(t *testing.T) {
		t.Parallel()
		_, err := engine.Start(t.Context(), engine.Options{DataDir: t.TempDir(), Durability: "half"})
		require.ErrorContains(t, err, "half")
	})

	t.Run("to continue when its context has ended", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := engine.Start(ctx, engine.Options{DataDir: t.TempDir(), UIPort: -1})
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestUI(t *testing.T) {
	t.Parallel()
	e := start(t, engine.Options{DataDir: t.TempDir()})
	for _, path := range []string{"/", "/api/v1/settings", "/api/v1/namespaces/default/workflows?query="} {
		resp, err := http.Get(e.UIURL() + path)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusOK, resp.StatusCode, path)
	}
	t.Run("rejects other host names", func(t *testing.T) {
		for host, status := range map[string]int{
			"localhost:8233": http.StatusOK, "[::1]:8233": http.StatusOK, "127.0.0.1": http.StatusOK,
			"evil.example": http.StatusForbidden, "evil.example:8233": http.StatusForbidden, "127.0.0.1.evil.example": http.StatusForbidden,
		} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.UIURL()+"/api/v1/settings", nil)
			require.NoError(t, err)
			request.Host = host
			resp, err := http.DefaultClient.Do(request)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			require.Equal(t, status, resp.StatusCode, host)
		}
	})
}

func TestStop(t *testing.T) {
	t.Parallel()
	e := start(t, engine.Options{DataDir: t.TempDir(), UIPort: -1})
	startWorker(t, dial(t, e), "q")
	began := time.Now()
	e.Stop()
	e.Stop()
	require.Less(t, time.Since(began), 10*time.Second)
	<-e.Done()
	require.NoError(t, e.Err())
}

// TestSchedule needs the server's own worker: a schedule starts a workflow.
func TestSchedule(t *testing.T) {
	t.Parallel()
	c := dial(t, enginetest.Start(t))
	ran := make(chan struct{}, 10)
	w := worker.New(c, "q", worker.Options{})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error {
		ran <- struct{}{}
		return nil
	}, workflow.RegisterOptions{Name: "Tick"})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
	_, err := c.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
		ID:                 "ticks",
		Spec:               client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: time.Hour}}},
		Action:             &client.ScheduleWorkflowAction{ID: "tick", Workflow: "Tick", TaskQueue: "q"},
		TriggerImmediately: true,
	})
	require.NoError(t, err)
	select {
	case <-ran:
	case <-time.After(30 * time.Second):
		t.Fatal("the schedule did not start its workflow")
	}
}

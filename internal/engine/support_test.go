package engine_test

import (
	"database/sql"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/engine"
)

var discard = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

func activityName(name string) activity.RegisterOptions { return activity.RegisterOptions{Name: name} }

func start(t testing.TB, opts engine.Options) *engine.Engine {
	t.Helper()
	e, err := engine.Start(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	return e
}

func dial(t testing.TB, e *engine.Engine) client.Client {
	t.Helper()
	c, err := client.DialContext(t.Context(), client.Options{HostPort: e.Address(), Logger: discard})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// startWorker serves the workflow Nothing on queue.
func startWorker(t testing.TB, c client.Client, queue string) {
	t.Helper()
	w := worker.New(c, queue, worker.Options{})
	w.RegisterWorkflowWithOptions(func(workflow.Context) error { return nil },
		workflow.RegisterOptions{Name: "Nothing"})
	require.NoError(t, w.Start())
	t.Cleanup(w.Stop)
}

func execSQL(t testing.TB, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	_, err = db.Exec(statement)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

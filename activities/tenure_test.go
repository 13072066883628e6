package activities_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// TestReleases has attempts that a stopping worker ends.
func TestReleases(t *testing.T) {
	t.Parallel()

	t.Run("do not use up the attempts at a service", func(t *testing.T) {
		t.Parallel()
		b := setupWith(t, llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Status(503, "") }))
		b.accept(t, "m1", "hi", false)
		over := make(chan struct{})
		close(over)
		complete := func(ctx context.Context, in protocol.CompleteInput) (protocol.CompleteResult, error) {
			if activity.GetInfo(ctx).Attempt <= 3 {
				ctx = activities.WithTenure(ctx, activities.Tenure{Over: over})
			}
			return b.agent.Complete(ctx, in)
		}
		_, _, err := retried[protocol.CompleteResult](t, complete, protocol.CompleteInput{Session: session, Turn: "m1", Step: 1, Messages: []string{"m1"}})
		require.Contains(t, failed(t, err).Message(), "after 8 attempts")
		require.GreaterOrEqual(t, b.model.Count(), 8)
	})

	t.Run("are retried at once", func(t *testing.T) {
		t.Parallel()
		b := setup(t, llmtest.Hang())
		b.accept(t, "m1", "hi", false)
		over := make(chan struct{})
		complete := func(ctx context.Context, in protocol.CompleteInput) (protocol.CompleteResult, error) {
			return b.agent.Complete(activities.WithTenure(ctx, activities.Tenure{Over: over}), in)
		}
		go func() {
			_ = b.model.Await(t.Context(), 1)
			close(over)
		}()
		_, err := execute[protocol.CompleteResult](t, complete, protocol.CompleteInput{Session: session, Turn: "m1", Step: 1, Messages: []string{"m1"}})
		require.Equal(t, "Released", failed(t, err).Type())
		require.Less(t, failed(t, err).NextRetryDelay(), time.Second)
	})
}

// TestFrozenCall has a tool call that did not run for a while, in which another worker may
// have made it.
func TestFrozenCall(t *testing.T) {
	t.Parallel()
	b := setup(t, calls(1, "write", `{}`))
	b.add(t, "write", tool.Keyed, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, tool.Check(ctx)
	})
	b.asked(t)
	frozen := func(ctx context.Context, in protocol.CallToolInput) (protocol.CallToolResult, error) {
		return b.agent.CallTool(activities.WithTenure(ctx, activities.Tenure{Silence: time.Nanosecond}), in)
	}
	_, err := execute[protocol.CallToolResult](t, frozen, protocol.CallToolInput{Session: session, Turn: "m1", Step: 1})
	require.Equal(t, "Released", failed(t, err).Type())
	require.Contains(t, failed(t, err).Message(), "frozen")
}

// TestFrozenDelivery has a delivery that did not run for a while after it claimed the reply.
func TestFrozenDelivery(t *testing.T) {
	t.Parallel()
	b, memory := setupPush(t, llmtest.Text("hello"))
	memory.Fail(1)
	result, err := b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	frozen := func(ctx context.Context, in protocol.DeliverInput) (protocol.DeliverResult, error) {
		outbox := activities.NewOutbox(b.store, memory, b.workspace)
		return outbox.Deliver(activities.WithTenure(ctx, activities.Tenure{Silence: time.Nanosecond}), in)
	}
	_, err = execute[protocol.DeliverResult](t, frozen, protocol.DeliverInput{Outbox: result.Outbox})
	require.Equal(t, "Released", failed(t, err).Type())
	require.Empty(t, memory.Posted())
}

// TestStopReachesARemoteCall has the turn of a running call ended by another process, with no
// word from Temporal.
func TestStopReachesARemoteCall(t *testing.T) {
	t.Parallel()
	b := setup(t, calls(1, "wait", `{}`))
	running := make(chan struct{})
	b.add(t, "wait", tool.Keyed, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
		close(running)
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	})
	b.asked(t)
	ended := make(chan error, 1)
	go func() {
		_, err := b.callTool(t, 1, 0)
		ended <- err
	}()
	<-running
	b.endTurn(t, protocol.EndTurnInput{Turn: "m1", Ending: protocol.EndingStopped})
	require.True(t, temporal.IsCanceledError(<-ended))
}

// TestSaveOutlivesALostTurn has the store lose the turn, whose beginning is an asynchronous
// commit, during the model call: the call is not made again.
func TestSaveOutlivesALostTurn(t *testing.T) {
	t.Parallel()
	dsn := filepath.Join(t.TempDir(), "store.db")
	answer := make(chan struct{})
	b := setup(t, llmtest.Text("done").After(answer))
	b.openStore(t, dsn)
	b.accept(t, "m1", "hi", false)
	go func() {
		defer close(answer)
		_ = b.model.Await(t.Context(), 1)
		db, err := sql.Open("sqlite", dsn)
		if !assert.NoError(t, err) {
			return
		}
		defer db.Close()
		_, err = db.ExecContext(t.Context(), `DELETE FROM messages; DELETE FROM turns; UPDATE inbox SET turn = NULL`)
		assert.NoError(t, err)
	}()
	result, err := b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	require.True(t, result.Final)
	require.Equal(t, 1, b.model.Count())
	require.Equal(t, "done", b.turn(t).Reply)
}

// openStore replaces the store.
func (b *bundle) openStore(t *testing.T, dsn string) {
	t.Helper()
	var err error
	b.store, err = store.Open(t.Context(), store.Options{DSN: dsn})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.store.Close()) })
	b.options.Store = b.store
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
}

// TestSaveOutlivesAnOutage has a model call and a tool call whose results cannot be saved at
// first: neither is made again.
func TestSaveOutlivesAnOutage(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	allow := func(allowed bool) {
		config, err := pgx.ParseConfig(dsn)
		require.NoError(t, err)
		name := config.Database
		config.Database = "postgres"
		conn, err := pgx.ConnectConfig(t.Context(), config)
		require.NoError(t, err)
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), `UPDATE pg_database SET datallowconn = $2 WHERE datname = $1`, name, allowed)
		require.NoError(t, err)
		if !allowed {
			_, err = conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1`, name)
			require.NoError(t, err)
		}
	}
	answer := make(chan struct{})
	b := setup(t, calls(1, "pay", `{}`).After(answer))
	b.openStore(t, dsn)
	outage := func() {
		allow(false)
		require.Eventually(t, func() bool { return b.store.Ping(t.Context()) != nil }, time.Minute, 10*time.Millisecond)
		time.AfterFunc(time.Second, func() { allow(true) })
	}
	paid := 0
	b.add(t, "pay", tool.Once, func(context.Context, tool.Call) (tool.Result, error) {
		paid++
		outage()
		return tool.Result{Text: "paid"}, nil
	})
	b.accept(t, "m1", "pay", false)
	go func() {
		_ = b.model.Await(t.Context(), 1)
		outage()
		close(answer)
	}()
	result, err := b.complete(t, "m1", 1, "m1")
	require.NoError(t, err)
	require.Len(t, result.Calls, 1)
	called, err := b.callTool(t, 1, 0)
	require.NoError(t, err)
	require.Equal(t, "paid", called.Preview)
	require.Equal(t, 1, paid)
	require.Equal(t, 1, b.model.Count())
	require.Equal(t, domain.TurnRunning, b.turn(t).Status)
}

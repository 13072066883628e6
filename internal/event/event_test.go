package event_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// bus is what a test has: the same bus for both, or two on one database.
type bus struct {
	publish, subscribe event.Bus
	close              func() error
}

func TestLocal(t *testing.T) {
	t.Parallel()
	conform(t, func(*testing.T) bus {
		local := event.NewLocal()
		return bus{publish: local, subscribe: local, close: local.Close}
	})
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Postgres(t)
	conform(t, func(t *testing.T) bus {
		dsn := storetest.Postgres(t)
		publish, subscribe := connect(t, dsn), connect(t, dsn)
		return bus{publish: publish, subscribe: subscribe, close: subscribe.Close}
	})
}

func connect(t *testing.T, dsn string) *event.Postgres {
	t.Helper()
	p, err := event.NewPostgres(t.Context(), dsn, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}

func conform(t *testing.T, open func(t *testing.T) bus) {
	t.Run("delivers events in order to all watchers of a topic", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		first, cancel := b.subscribe.Subscribe("a")
		defer cancel()
		second, cancelSecond := b.subscribe.Subscribe("a")
		defer cancelSecond()
		other, cancelOther := b.subscribe.Subscribe("b")
		defer cancelOther()
		want := []event.Event{
			{Kind: event.Reset, Step: 1},
			{Kind: event.Text, Text: "ha", Step: 1},
			{Kind: event.Text, Text: "ha", Step: 1},
			{Kind: event.ToolStart, Text: "ls \x00é", Tool: "exec", Step: 1},
			{Kind: event.Done},
		}
		for _, e := range want {
			b.publish.Publish(t.Context(), "a", e)
		}
		b.publish.Publish(t.Context(), "b", event.Event{Kind: event.Done, Step: 7})
		require.Equal(t, want, untilDone(t, first))
		require.Equal(t, want, untilDone(t, second))
		require.Equal(t, []event.Event{{Kind: event.Done, Step: 7}}, untilDone(t, other))
	})
	t.Run("never waits and never loses the end", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		events, cancel := b.subscribe.Subscribe("a")
		defer cancel()
		for i := range 10_000 {
			b.publish.Publish(t.Context(), "a", event.Event{Kind: event.Text, Text: strconv.Itoa(i)})
		}
		b.publish.Publish(t.Context(), "a", event.Event{Kind: event.Done})
		got := untilDone(t, events)
		require.Equal(t, "0", got[0].Text)
	})
	t.Run("delivers long text in full", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		events, cancel := b.subscribe.Subscribe("a")
		defer cancel()
		long := strings.Repeat("aé\x01\U0001F600", 10_000)
		b.publish.Publish(t.Context(), "a", event.Event{Kind: event.Text, Text: long})
		b.publish.Publish(t.Context(), "a", event.Event{Kind: event.ToolDone, Tool: "exec", Text: long})
		b.publish.Publish(t.Context(), "a", event.Event{Kind: event.Done})
		var text strings.Builder
		var tools []event.Event
		for _, e := range untilDone(t, events) {
			if e.Kind == event.Text {
				text.WriteString(e.Text)
			}
			if e.Kind == event.ToolDone {
				tools = append(tools, e)
			}
		}
		require.Equal(t, long, text.String())
		require.Len(t, tools, 1)
		require.True(t, strings.HasPrefix(long, tools[0].Text))
	})
	t.Run("closes events when cancelled or closed", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		first, cancel := b.subscribe.Subscribe("a")
		second, cancelSecond := b.subscribe.Subscribe("a")
		cancel()
		cancel()
		requireClosed(t, first)
		require.NoError(t, b.close())
		requireClosed(t, second)
		cancelSecond()
		late, cancelLate := b.subscribe.Subscribe("a")
		requireClosed(t, late)
		cancelLate()
		b.publish.Publish(t.Context(), "a", event.Event{Kind: event.Done})
	})
	t.Run("survives many concurrent watchers", func(t *testing.T) {
		t.Parallel()
		b := open(t)
		var running sync.WaitGroup
		for range 8 {
			running.Go(func() {
				for range 20 {
					_, cancel := b.subscribe.Subscribe("a")
					b.publish.Publish(t.Context(), "a", event.Event{Kind: event.Text, Text: "x"})
					cancel()
				}
			})
		}
		running.Wait()
	})
}

func TestPostgresReconnects(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	b := connect(t, dsn)
	events, cancel := b.Subscribe("a")
	defer cancel()

	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid()`)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	require.Eventually(t, func() bool {
		b.Publish(t.Context(), "a", event.Event{Kind: event.Done})
		return len(events) > 0
	}, time.Minute, 20*time.Millisecond)
}

func TestPostgresSaysWhyItCannotOpen(t *testing.T) {
	t.Parallel()
	_, err := event.NewPostgres(t.Context(), "postgres://nobody@127.0.0.1:1/none?connect_timeout=1", nil)
	require.ErrorContains(t, err, "open event bus")
	_, err = event.NewPostgres(t.Context(), "postgres://%zz", nil)
	require.ErrorContains(t, err, "open event bus")
}

// untilDone returns the events up to and with the first [event.Done].
func untilDone(t *testing.T, events <-chan event.Event) []event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all []event.Event
	for {
		select {
		case e, ok := <-events:
			require.True(t, ok, "closed before the end")
			all = append(all, e)
			if e.Kind == event.Done {
				return all
			}
		case <-ctx.Done():
			require.FailNow(t, "no end", "after %d events", len(all))
		}
	}
}

func requireClosed(t *testing.T, events <-chan event.Event) {
	t.Helper()
	select {
	case _, ok := <-events:
		require.False(t, ok)
	case <-time.After(time.Minute):
		require.FailNow(t, "not closed")
	}
}

package starter_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// watch watches a message and returns what it has seen once it has ended.
func (b *bundle) watch(t *testing.T, id string) (seen *[]event.Event, done chan error) {
	t.Helper()
	seen, done = &[]event.Event{}, make(chan error, 1)
	go func() {
		done <- b.Watch(t.Context(), id, func(e event.Event) { *seen = append(*seen, e) })
	}()
	return seen, done
}

func TestWatch(t *testing.T) {
	t.Parallel()
	last := event.Event{Kind: event.Done}
	bubble := func(name string, check func(t *testing.T, b *bundle)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { check(t, setup(t)) })
		})
	}

	bubble("a message that was answered before", func(t *testing.T, b *bundle) {
		m := b.accept(t, inbound("1", "hi")).Message
		b.begin(t, m, 1, m)
		b.answer(t, m, 1, "hello")
		seen, done := b.watch(t, m)
		require.NoError(t, <-done)
		require.Equal(t, []event.Event{last}, *seen)
	})

	bubble("a message that is not accepted yet", func(t *testing.T, b *bundle) {
		id := domain.MessageID("test", "", "1")
		seen, done := b.watch(t, id)
		synctest.Wait()
		require.Equal(t, id, b.accept(t, inbound("1", "hi")).Message)
		for _, e := range []event.Event{{Kind: event.Reset, Step: 1}, {Kind: event.Text, Text: "hel", Step: 1}, {Kind: event.ToolStart, Tool: "exec"}, {Kind: event.Done}} {
			b.bus.Publish(t.Context(), id, e)
		}
		require.NoError(t, <-done)
		require.Equal(t, []event.Event{
			{Kind: event.Reset, Step: 1},
			{Kind: event.Text, Text: "hel", Step: 1},
			{Kind: event.ToolStart, Tool: "exec"},
			last,
		}, *seen)
	})

	bubble("a message whose last event gets lost", func(t *testing.T, b *bundle) {
		m := b.accept(t, inbound("1", "hi")).Message
		seen, done := b.watch(t, m)
		synctest.Wait()
		b.begin(t, m, 1, m)
		b.answer(t, m, 1, "hello")
		started := time.Now()
		require.NoError(t, <-done)
		require.LessOrEqual(t, time.Since(started), time.Second)
		require.Equal(t, []event.Event{last}, *seen)
	})

	bubble("a message when the bus is closed", func(t *testing.T, b *bundle) {
		m := b.accept(t, inbound("1", "hi")).Message
		seen, done := b.watch(t, m)
		synctest.Wait()
		require.NoError(t, b.bus.Close())
		synctest.Wait()
		b.begin(t, m, 1, m)
		b.answer(t, m, 1, "hello")
		require.NoError(t, <-done)
		require.Equal(t, []event.Event{last}, *seen)
	})

	bubble("a message that joins another's turn", func(t *testing.T, b *bundle) {
		turn := b.accept(t, inbound("1", "hi")).Message
		b.begin(t, turn, 1, turn)
		m := b.accept(t, inbound("2", "and this")).Message
		seen, done := b.watch(t, m)
		synctest.Wait()
		b.begin(t, turn, 2, m)
		for range 2 { // a step that is tried again says so again
			b.bus.Publish(t.Context(), m, event.Event{Kind: event.TurnJoined, Text: turn})
		}
		synctest.Wait()
		b.bus.Publish(t.Context(), turn, event.Event{Kind: event.Text, Text: "both"})
		b.answer(t, turn, 2, "both")
		b.bus.Publish(t.Context(), turn, event.Event{Kind: event.Done})
		require.NoError(t, <-done)
		require.Equal(t, []event.Event{
			{Kind: event.TurnJoined, Text: turn}, {Kind: event.Text, Text: "both"}, last,
		}, *seen)
	})

	bubble("a message that joins a turn which ends at once", func(t *testing.T, b *bundle) {
		turn := b.accept(t, inbound("1", "hi")).Message
		b.begin(t, turn, 1, turn)
		m := b.accept(t, inbound("2", "and this")).Message
		seen, done := b.watch(t, m)
		synctest.Wait()
		b.begin(t, turn, 2, m)
		b.answer(t, turn, 2, "both")
		started := time.Now()
		b.bus.Publish(t.Context(), m, event.Event{Kind: event.TurnJoined, Text: turn})
		require.NoError(t, <-done)
		require.Zero(t, time.Since(started), "it looks at once")
		require.Equal(t, last, (*seen)[len(*seen)-1])
	})

	bubble("until its context ends", func(t *testing.T, b *bundle) {
		cause := errors.New("the client is gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.Watch(ctx, "m1", func(event.Event) {}) }()
		synctest.Wait()
		cancel(cause)
		require.ErrorIs(t, <-done, cause)
	})
}

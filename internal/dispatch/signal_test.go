package dispatch_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestSignal(t *testing.T) {
	t.Parallel()

	t.Run("sends earlier messages first, whoever accepted them", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one, two := b.put(t, "c1", "one"), b.put(t, "c1", "two")
		elsewhere := b.put(t, "c2", "elsewhere")
		require.NoError(t, b.SignalAccepted(t.Context(), two))
		require.NoError(t, b.SignalAccepted(t.Context(), elsewhere))
		require.NoError(t, b.SignalAccepted(t.Context(), one))
		require.Equal(t, []string{one.ID, two.ID, elsewhere.ID}, b.engine.Signalled())
	})

	t.Run("sends each message once per process while it waits, and again when asked to", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		one := b.put(t, "c1", "one")
		require.NoError(t, b.SignalAccepted(t.Context(), one))
		two := b.put(t, "c1", "two")
		require.Equal(t, one.Seq, two.Previous)
		require.NoError(t, b.SignalAccepted(t.Context(), two))
		require.NoError(t, b.Signal(t.Context(), two))
		require.Equal(t, []string{one.ID, two.ID}, b.engine.Signalled())
		require.NoError(t, b.SignalAgain(t.Context(), one))
		require.Equal(t, []string{one.ID, two.ID, one.ID}, b.engine.Signalled())
	})

	t.Run("keeps the order when processes signal at once", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		other := b.another(t)
		var accepting sync.WaitGroup
		for i, d := range []*dispatch.Dispatcher{b.Dispatcher, other, b.Dispatcher, other} {
			accepting.Go(func() {
				for m := range 25 {
					text := string(rune('a'+i)) + string(rune('a'+m))
					stored, _, err := b.store.Accept(context.Background(), domain.Inbound{
						ID: text, Session: "test:c1", Channel: "test", Chat: "c1", Text: text,
					})
					if err == nil {
						err = d.SignalAccepted(context.Background(), stored)
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		accepting.Wait()
		var last int64
		seen := map[string]bool{}
		for _, m := range b.engine.Signals() {
			if !seen[m.ID] {
				require.Greater(t, m.Seq, last)
				last = m.Seq
			}
			seen[m.ID] = true
		}
		require.Len(t, seen, 100)
	})

	t.Run("sends a new message of a store that was set back", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		later := b.put(t, "c1", "lost with the store")
		later.Seq += 1000
		require.NoError(t, b.SignalAccepted(t.Context(), later))
		next := b.put(t, "c1", "next")
		require.NoError(t, b.SignalAccepted(t.Context(), next))
		require.Equal(t, next.ID, b.engine.Signalled()[len(b.engine.Signalled())-1])
	})

	t.Run("names the run after the message", func(t *testing.T) {
		t.Parallel()
		for want, m := range map[string]domain.Inbound{
			`slack C1 · @Ana: "hi"`:      {ID: "1", Session: "s1", Channel: "slack", Chat: "C1", Sender: "U1", SenderName: "Ana", Text: "hi"},
			`slack C1 · @U1: "/stop"`:    {ID: "2", Session: "s2", Channel: "slack", Chat: "C1", Sender: "U1", Command: domain.CommandStop, Text: "/stop now"},
			`heartbeat: "[Heartbeat] x"`: {ID: "3", Session: "heartbeat", Channel: "heartbeat", Text: "[Heartbeat]\nx"},
			`slack C1: "[Heartbeat]"`:    {ID: "4", Session: "s4", Channel: "slack", Chat: "C1", Text: "[Heartbeat]"},
		} {
			b := setup(t)
			stored, _, err := b.store.Accept(t.Context(), m)
			require.NoError(t, err)
			require.NoError(t, b.Signal(t.Context(), stored))
			require.Equal(t, want, b.engine.Options()[0].StaticSummary)
		}
	})
}

package store_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// all runs do in n goroutines and waits for them.
func all(n int, do func(i int)) {
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() { do(i) })
	}
	running.Wait()
}

func acceptOnce(t *testing.T, b *bundle) {
	first, fresh, err := b.Accept(t.Context(), message("m1"))
	require.NoError(t, err)
	require.True(t, fresh)
	require.WithinDuration(t, time.Now(), first.AcceptedAt, time.Minute)

	again, fresh, err := b.Accept(t.Context(), message("m1"))
	require.NoError(t, err)
	require.False(t, fresh)
	require.Equal(t, first, again)

	other := message("m1")
	other.Text = "another"
	_, _, err = b.Accept(t.Context(), other)
	require.ErrorIs(t, err, domain.ErrConflict)
	other = message("m1")
	other.Session = "test:c2"
	_, _, err = b.Accept(t.Context(), other)
	require.ErrorIs(t, err, domain.ErrConflict)

	_, err = b.Inbound(t.Context(), "m2")
	require.ErrorIs(t, err, domain.ErrNotFound)
}

func acceptRace(t *testing.T, b *bundle) {
	var fresh atomic.Int32
	all(32, func(int) {
		_, first, err := b.Accept(t.Context(), message("m1"))
		if err != nil {
			t.Error(err)
		}
		if first {
			fresh.Add(1)
		}
	})
	require.EqualValues(t, 1, fresh.Load())
}

func acceptFields(t *testing.T, b *bundle) {
	in := domain.Inbound{
		ID: "m1", Session: session, Channel: channel, Chat: "c", Thread: "t", Sender: "u", SenderName: "Ana", Text: "x",
		Command: "new", Push: true, Queue: true, PlatformID: "p1", Child: "m0.1.0", Job: "j1",
		Files:  []domain.File{{ID: "F1", Name: "a.png", MIME: "image/png", Size: 7, URL: "https://files.example.com/F1"}},
		SentAt: time.Date(2024, 2, 29, 23, 59, 59, 123456000, time.FixedZone("", 3600)),
	}
	stored, _, err := b.Accept(t.Context(), in)
	require.NoError(t, err)
	read, err := b.Inbound(t.Context(), "m1")
	require.NoError(t, err)
	require.Equal(t, stored, read)

	in.SentAt, in.AcceptedAt, in.Seq = in.SentAt.UTC(), stored.AcceptedAt, stored.Seq
	require.Equal(t, in, stored)
	b.accept(t, "m2")
	read, err = b.Inbound(t.Context(), "m2")
	require.NoError(t, err)
	require.True(t, read.SentAt.IsZero())
	require.Equal(t, time.UTC, read.AcceptedAt.Location())
}

func sweep(t *testing.T, b *bundle) {
	b.accept(t, "m3", "m1", "m2")
	soon, later := time.Now(), time.Now().Add(time.Minute)
	unswept := func(at time.Time, limit int) []string {
		found, err := b.Unswept(t.Context(), at, limit)
		require.NoError(t, err)
		return ids(found)
	}
	require.Empty(t, unswept(soon, 10), "a new message has time to be consumed")
	require.Equal(t, []string{"m3", "m1", "m2"}, unswept(later, 10))
	require.Equal(t, []string{"m3", "m1"}, unswept(later, 2))

	for range 2 {
		require.NoError(t, b.Postpone(t.Context(), "m3", later.Add(time.Second)))
		require.Equal(t, []string{"m1", "m2"}, unswept(later, 10))
	}
	b.begin(t, step("m1", 1, "m1"))
	require.Equal(t, []string{"m2"}, unswept(later, 10))
	unconsumed, err := b.Unconsumed(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []string{"m3", "m2"}, ids(unconsumed))
	require.NoError(t, b.Postpone(t.Context(), "absent", later))
}

func messageState(t *testing.T, b *bundle) {
	_, _, err := b.MessageState(t.Context(), "m1")
	require.ErrorIs(t, err, domain.ErrNotFound)

	b.accept(t, "m1", "m2")
	in, turn, err := b.MessageState(t.Context(), "m1")
	require.NoError(t, err)
	require.Nil(t, turn)
	require.Empty(t, in.Turn)

	b.begin(t, step("m1", 1, "m1", "m2"))
	in, turn, err = b.MessageState(t.Context(), "m2")
	require.NoError(t, err)
	require.Equal(t, "m1", in.Turn)
	require.Equal(t, domain.TurnRunning, turn.Status)

	b.complete(t, "m1", 1)
	_, turn, err = b.MessageState(t.Context(), "m2")
	require.NoError(t, err)
	require.Equal(t, domain.TurnDone, turn.Status)
	require.Equal(t, "m1 says 1", turn.Reply)
}

// pending checks that a reader never sees a message appear before one that it has seen.
func pending(t *testing.T, b *bundle) {
	const writers, each = 8, 25
	second := open(t, b.dsn)
	done := make(chan struct{})
	go func() {
		defer close(done)
		all(writers, func(w int) {
			for i := range each {
				s := []*store.Store{b.Store, second}[w%2]
				if _, _, err := s.Accept(t.Context(), message(fmt.Sprintf("m%d.%d", w, i))); err != nil {
					t.Error(err)
				}
			}
		})
	}()
	var seen []domain.Inbound
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		next, err := b.Pending(t.Context(), session, writers*each)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(next), len(seen))
		require.Equal(t, ids(seen), ids(next[:len(seen)]))
		seen = next
	}
	require.Len(t, seen, writers*each)
	require.IsIncreasing(t, sequences(seen))

	b.begin(t, step(seen[0].ID, 1, seen[0].ID))
	rest, err := b.Pending(t.Context(), session, 2)
	require.NoError(t, err)
	require.Equal(t, ids(seen[1:3]), ids(rest))
}

func sequences(messages []domain.Inbound) []int64 {
	all := make([]int64, 0, len(messages))
	for _, m := range messages {
		all = append(all, m.Seq)
	}
	return all
}

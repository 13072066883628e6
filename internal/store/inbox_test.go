package store_test

import (
	"fmt"
	"math"
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
		found, err := b.ClaimMessages(t.Context(), store.Claim{Due: at, Until: at, Limit: limit})
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
	unconsumed, err := b.Pending(t.Context(), session, 0, math.MaxInt64, 10)
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
		next, err := b.Pending(t.Context(), session, 0, math.MaxInt64, writers*each)
		require.NoError(t, err)
		require.GreaterOrEqual(t, len(next), len(seen))
		require.Equal(t, ids(seen), ids(next[:len(seen)]))
		seen = next
	}
	require.Len(t, seen, writers*each)
	require.IsIncreasing(t, sequences(seen))

	b.begin(t, step(seen[0].ID, 1, seen[0].ID))
	rest, err := b.Pending(t.Context(), session, 0, math.MaxInt64, 2)
	require.NoError(t, err)
	require.Equal(t, ids(seen[1:3]), ids(rest))
	rest, err = b.Pending(t.Context(), session, seen[1].Seq, seen[5].Seq, 10)
	require.NoError(t, err)
	require.Equal(t, ids(seen[2:5]), ids(rest))
}

// previous checks that accepting a message tells which unconsumed one came before it.
func previous(t *testing.T, b *bundle) {
	accept := func(id, session string) domain.Inbound {
		in := message(id)
		in.Session = session
		stored, fresh, err := b.Accept(t.Context(), in)
		require.NoError(t, err)
		require.True(t, fresh)
		return stored
	}
	first, elsewhere := accept("m1", session), accept("m2", "another")
	second := accept("m3", session)
	require.Zero(t, first.Previous)
	require.Zero(t, elsewhere.Previous)
	require.Equal(t, first.Seq, second.Previous)
	b.begin(t, step("m3", 1, "m3"))
	require.Equal(t, first.Seq, accept("m4", session).Previous)
	b.begin(t, step("m1", 1, "m1", "m4"))
	require.Zero(t, accept("m5", session).Previous)
}

// reconcileClaims checks that processes which claim at the same time share the rows.
func reconcileClaims(t *testing.T, b *bundle) {
	const messages, claimers = 60, 4
	for i := range messages {
		b.accept(t, fmt.Sprintf("m%d", i))
	}
	second := open(t, b.dsn)
	now := time.Now().Add(time.Hour)
	claim := store.Claim{Before: now, Due: now, Until: now.Add(time.Minute), Limit: 10}
	var mu sync.Mutex
	claimed := map[string]int{}
	all(claimers, func(n int) {
		for range messages / 10 {
			found, err := []*store.Store{b.Store, second}[n%2].ClaimMessages(t.Context(), claim)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			for _, m := range found {
				claimed[m.ID]++
			}
			mu.Unlock()
		}
	})
	require.Len(t, claimed, messages)
	for id, times := range claimed {
		require.Equal(t, 1, times, id)
	}
	again := claim
	again.Due = claim.Until
	found, err := second.ClaimMessages(t.Context(), again)
	require.NoError(t, err)
	require.Len(t, found, 10, "a claim ends")

	b.begin(t, step("m0", 1, "m0"))
	early := claim
	early.Before = time.Now().Add(-time.Hour)
	for _, c := range []struct {
		claim store.Claim
		want  int
	}{{early, 0}, {claim, 1}, {claim, 0}, {again, 1}} {
		turns, err := b.ClaimTurns(t.Context(), c.claim)
		require.NoError(t, err)
		require.Len(t, turns, c.want)
	}
	_, err = b.Spawn(t.Context(), store.SpawnInput{ID: "m0.1.0", Turn: "m0", Task: "t", Label: "l", Limit: 1})
	require.NoError(t, err)
	for _, c := range []struct {
		claim store.Claim
		want  int
	}{{early, 0}, {claim, 1}, {claim, 0}, {again, 1}} {
		subagents, err := b.ClaimSubagents(t.Context(), c.claim)
		require.NoError(t, err)
		require.Len(t, subagents, c.want)
	}
}

func sequences(messages []domain.Inbound) []int64 {
	all := make([]int64, 0, len(messages))
	for _, m := range messages {
		all = append(all, m.Seq)
	}
	return all
}

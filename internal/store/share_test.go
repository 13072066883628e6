package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func lists(t *testing.T, b *bundle) {
	_, err := b.Session(t.Context(), session)
	require.ErrorIs(t, err, domain.ErrNotFound)
	_, err = b.Transcript(t.Context(), session, -1, 0)
	require.ErrorIs(t, err, domain.ErrNotFound)

	b.whole(t, "m1")
	b.tooled(t, "m2")
	other := message("x1")
	other.Session = "test:c2"
	_, _, err = b.Accept(t.Context(), other)
	require.NoError(t, err)
	rows, err := b.Transcript(t.Context(), other.Session, -1, 0)
	require.NoError(t, err, "an accepted message makes a session")
	require.Empty(t, rows)
	running, err := b.RunningSessions(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"test:c1", "test:c2"}, running, "the first has replies to deliver")

	in := step("x1", 1, "x1")
	in.Session = other.Session
	b.begin(t, in)
	b.accept(t, "m3")
	running, err = b.RunningSessions(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"test:c1", "test:c2"}, running)

	sessions, err := b.Sessions(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, sessions, 2)
	require.Equal(t, "test:c2", sessions[0].Key, "used last")
	require.Equal(t, 2, sessions[1].Turns)
	require.Equal(t, 6, sessions[1].Messages)
	one, err := b.Session(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, sessions[1], one)
	sessions, err = b.Sessions(t.Context(), 1)
	require.NoError(t, err)
	require.Len(t, sessions, 1)

	turns, err := b.Turns(t.Context(), session, 10)
	require.NoError(t, err)
	require.Len(t, turns, 2)
	require.Equal(t, "m2", turns[0].ID)
	turns, err = b.Turns(t.Context(), session, 1)
	require.NoError(t, err)
	require.Len(t, turns, 1)
	rows, err = b.Transcript(t.Context(), session, -1, 2)
	require.NoError(t, err)
	require.Equal(t, []string{"t: ok", "a: m2 says 2"}, contents(rows))
}

func shareTwo(t *testing.T, b *bundle) {
	second := &bundle{Store: open(t, b.dsn), dsn: b.dsn}
	all(20, func(i int) {
		s := []*bundle{b, second}[i%2]
		id := fmt.Sprintf("m%d", i/2)
		if _, _, err := s.Accept(t.Context(), message(id)); err != nil {
			t.Error(err)
		}
	})
	for i := range 10 {
		id := fmt.Sprintf("m%d", i)
		b.begin(t, step(id, 1, id))
		second.complete(t, id, 1)
		out, err := b.ClaimOutbox(t.Context(), fmt.Sprintf("o%d", i))
		require.NoError(t, err)
		require.Equal(t, id+" says 1", out.Text)
	}
	require.Len(t, second.transcript(t), 20)
}

func openRace(t *testing.T, b *bundle) {
	require.NoError(t, b.Ping(t.Context()))
	all(4, func(int) {
		s, err := store.Open(t.Context(), store.Options{DSN: b.dsn})
		if err != nil {
			t.Error(err)
			return
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b.accept(t, "m1")
}

func reopen(t *testing.T, b *bundle) {
	b.tooled(t, "m1")
	rows := b.transcript(t)
	s, err := store.Open(t.Context(), store.Options{DSN: b.dsn})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Error(t, s.Ping(t.Context()))
	again := &bundle{Store: open(t, b.dsn), dsn: b.dsn}
	require.Equal(t, rows, again.transcript(t))
	again.whole(t, "m2")
	require.Len(t, b.transcript(t), len(rows)+2)
}

func manySessions(t *testing.T, b *bundle) {
	all(16, func(i int) {
		key := fmt.Sprintf("test:s%d", i)
		for n := range 3 {
			id := fmt.Sprintf("m%d-%d", i, n)
			in := message(id)
			in.Session = key
			start := step(id, 1, id)
			start.Session = key
			_, _, err := b.Accept(t.Context(), in)
			if err == nil {
				_, err = b.Begin(t.Context(), start)
			}
			if err == nil {
				_, _, err = b.SaveCompletion(t.Context(), completed(id, 1))
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
	sessions, err := b.Sessions(t.Context(), 100)
	require.NoError(t, err)
	require.Len(t, sessions, 16)
	for _, s := range sessions {
		require.Equal(t, 3, s.Turns)
		require.Equal(t, 6, s.Messages)
	}
}

func cancelled(t *testing.T, b *bundle) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := b.Accept(ctx, message("m1"))
	require.ErrorIs(t, err, context.Canceled)
	_, err = b.Inbound(t.Context(), "m1")
	require.ErrorIs(t, err, domain.ErrNotFound)
	b.whole(t, "m1")
}

package store_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func (b *bundle) claim(t *testing.T) domain.Outbound {
	t.Helper()
	out, err := b.ClaimOutbox(t.Context(), "o1")
	require.NoError(t, err)
	return out
}

func fences(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	first, second := b.claim(t), b.claim(t)
	require.Greater(t, second.Fence, first.Fence)
	require.ErrorIs(t, b.MarkSent(t.Context(), "o1", first.Fence, "p1"), store.ErrFenced)
	require.ErrorIs(t, b.MarkFailed(t.Context(), "o1", first.Fence, "gone"), store.ErrFenced)
	require.ErrorIs(t, b.Release(t.Context(), "o1", first.Fence, "429"), store.ErrFenced)
	require.NoError(t, b.MarkSent(t.Context(), "o1", second.Fence, "p2"))
	require.ErrorIs(t, b.MarkSent(t.Context(), "o1", first.Fence, "p1"), store.ErrFenced)
	require.ErrorIs(t, b.MarkSent(t.Context(), "absent", 1, "p1"), domain.ErrNotFound)
}

func claims(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	first := b.claim(t)
	require.False(t, first.Claimed)
	for range 2 {
		require.NoError(t, b.Release(t.Context(), "o1", first.Fence, "429"))
	}
	second := b.claim(t)
	require.False(t, second.Claimed, "the first attempt said that it did not post")
	require.Equal(t, "429", second.Error)
	require.Equal(t, second.ClaimedAt, second.FirstClaimedAt, "the first attempt did not post")
	third := b.claim(t)
	require.Equal(t, second.ClaimedAt, third.FirstClaimedAt)
	require.True(t, third.Claimed, "the second attempt said nothing")
	require.NoError(t, b.Release(t.Context(), "o1", third.Fence, "429"))
	require.True(t, b.claim(t).Claimed, "the second attempt may still have posted")
}

func claimRace(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	var mu sync.Mutex
	seen := map[int64]bool{}
	unclaimed := 0
	all(16, func(int) {
		out, err := b.ClaimOutbox(t.Context(), "o1")
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			t.Error(err)
		}
		seen[out.Fence] = true
		if !out.Claimed {
			unclaimed++
		}
	})
	require.Len(t, seen, 16)
	require.Equal(t, 1, unclaimed)
}

func closed(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	b.claim(t)
	out := b.claim(t)
	for range 2 {
		require.NoError(t, b.MarkSent(t.Context(), "o1", out.Fence, "p1"))
	}
	require.Error(t, b.MarkFailed(t.Context(), "o1", out.Fence, "gone"))
	require.Error(t, b.Release(t.Context(), "o1", out.Fence, "429"))
	for range 2 {
		sent := b.claim(t)
		require.Equal(t, domain.OutboxSent, sent.State)
		require.Equal(t, "p1", sent.PlatformID)
		require.Equal(t, out.Fence, sent.Fence)
		require.False(t, sent.Claimed)
	}

	b.whole(t, "m2")
	out, err := b.ClaimOutbox(t.Context(), "o2")
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, b.MarkFailed(t.Context(), "o2", out.Fence, "gone"))
	}
	failed, err := b.ClaimOutbox(t.Context(), "o2")
	require.NoError(t, err)
	require.Equal(t, domain.OutboxFailed, failed.State)
	require.Equal(t, "gone", failed.Error)
}

func behind(t *testing.T, b *bundle) {
	isBehind := func(id string) bool {
		behind, err := b.Behind(t.Context(), id)
		require.NoError(t, err)
		return behind
	}
	b.whole(t, "m1")
	job := message("m2")
	job.Session = "job:j"
	_, _, err := b.Accept(t.Context(), job)
	require.NoError(t, err)
	begun := step("m2", 1, "m2")
	begun.Session = job.Session
	b.begin(t, begun)
	b.complete(t, "m2", 1)
	b.whole(t, "m3")
	require.False(t, isBehind("o1"))
	require.True(t, isBehind("o2"), "o1 is another session's")
	require.True(t, isBehind("o3"), "o2 is another session's")
	require.False(t, isBehind("absent"))

	out, err := b.ClaimOutbox(t.Context(), "o2")
	require.NoError(t, err)
	require.NoError(t, b.MarkSent(t.Context(), "o2", out.Fence, "p2"))
	require.False(t, isBehind("o3"), "its session keeps it behind o1")
}

func kept(t *testing.T, b *bundle) {
	ids := func() (all []string) {
		rows, err := b.Kept(t.Context(), channel, "c1")
		require.NoError(t, err)
		for _, row := range rows {
			all = append(all, row.ID)
		}
		return all
	}
	b.whole(t, "m1")
	b.whole(t, "m2")
	for _, id := range []string{"o1", "o2"} {
		out, err := b.ClaimOutbox(t.Context(), id)
		require.NoError(t, err)
		for range 2 {
			require.NoError(t, b.Keep(t.Context(), id, out.Fence, "the window is closed"))
		}
	}
	require.Equal(t, []string{"o1", "o2"}, ids(), "oldest first")
	elsewhere, err := b.Kept(t.Context(), channel, "c2")
	require.NoError(t, err)
	require.Empty(t, elsewhere)
	reasons, err := b.Undelivered(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"m1": "the window is closed", "m2": "the window is closed"}, reasons)
	_, err = b.Removable(t.Context(), session, time.Time{}, 1)
	require.ErrorIs(t, err, store.ErrSessionBusy)

	read := b.claim(t)
	require.Equal(t, domain.OutboxKept, read.State, "it is claimed as pending by no one")
	first, err := b.ClaimKept(t.Context(), read)
	require.NoError(t, err)
	require.False(t, first.Claimed, "the attempts so far did not post")
	require.Equal(t, domain.OutboxKept, first.State)
	_, err = b.ClaimKept(t.Context(), read)
	require.ErrorIs(t, err, store.ErrFenced)
	require.NoError(t, b.EndKept(t.Context(), "o1", first.Fence, "no answer"))
	second, err := b.ClaimKept(t.Context(), first)
	require.NoError(t, err)
	require.True(t, second.Claimed, "the attempt before said nothing")
	require.ErrorIs(t, b.MarkSent(t.Context(), "o1", first.Fence, "p1"), store.ErrFenced)
	require.NoError(t, b.MarkSent(t.Context(), "o1", second.Fence, "p1"))
	require.Equal(t, []string{"o2"}, ids())
	_, err = b.ClaimKept(t.Context(), second)
	require.ErrorIs(t, err, store.ErrFenced)
}

func keptQuestion(t *testing.T, b *bundle) {
	b.asking(t, 1)
	asked, outbox := b.ask(t, 0)
	out, err := b.ClaimOutbox(t.Context(), outbox)
	require.NoError(t, err)
	require.NoError(t, b.Keep(t.Context(), outbox, out.Fence, "the window is closed"))
	rows, err := b.Kept(t.Context(), channel, "c1")
	require.NoError(t, err)
	require.Len(t, rows, 1)
	_, err = b.DecideApproval(t.Context(), domain.Decision{Approval: asked.ID, Status: domain.ApprovalDropped})
	require.NoError(t, err)
	rows, err = b.Kept(t.Context(), channel, "c1")
	require.NoError(t, err)
	require.Empty(t, rows)
}

func placeholder(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	first := b.claim(t)
	for range 2 {
		require.NoError(t, b.MarkPlaceholder(t.Context(), first, "p1"))
	}
	require.NoError(t, b.Release(t.Context(), "o1", first.Fence, "429"))
	second := b.claim(t)
	require.Equal(t, "p1", second.PlatformID)
	require.Equal(t, domain.OutboxPending, second.State)
	require.ErrorIs(t, b.MarkPlaceholder(t.Context(), first, "p2"), store.ErrFenced)
	require.NoError(t, b.MarkSent(t.Context(), "o1", second.Fence, "p1"))
	require.Error(t, b.MarkPlaceholder(t.Context(), second, "p2"), "it is sent")
}

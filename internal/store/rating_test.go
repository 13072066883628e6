package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func ratings(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	claimed, err := b.ClaimOutbox(t.Context(), domain.OutboxID("m1"))
	require.NoError(t, err)
	require.True(t, claimed.Ratable)
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	rate := func(sender string, good bool, second int) bool {
		t.Helper()
		changed, err := b.Rate(t.Context(), domain.Rating{
			Turn: "m1", Channel: channel, Chat: "c1", Sender: sender, Good: good, At: noon.Add(time.Duration(second) * time.Second),
		})
		require.NoError(t, err)
		return changed
	}
	require.True(t, rate("ana", true, 1))
	require.False(t, rate("ana", true, 1), "delivered again")
	require.False(t, rate("ana", true, 5))
	require.False(t, rate("ana", false, 3), "overtaken by a later one")
	require.True(t, rate("ben", false, 4))
	require.True(t, rate("ben", true, 6))
	all, err := b.Ratings(t.Context(), session)
	require.NoError(t, err)
	require.Equal(t, map[string][]domain.Rating{"m1": {
		{Turn: "m1", Sender: "ana", Good: true, At: noon.Add(5 * time.Second)},
		{Turn: "m1", Sender: "ben", Good: true, At: noon.Add(6 * time.Second)},
	}}, all)

	for _, wrong := range []domain.Rating{
		{Turn: "m2", Channel: channel, Chat: "c1"}, {Turn: "m1", Channel: "other", Chat: "c1"}, {Turn: "m1", Channel: channel, Chat: "c2"},
	} {
		_, err := b.Rate(t.Context(), wrong)
		require.ErrorIs(t, err, domain.ErrNotFound)
	}

	b.accept(t, "m3", "m4")
	_, _, err = b.Answer(t.Context(), store.AnswerInput{Session: session, Channel: channel, Message: "m3", Reply: "Nothing is running."})
	require.NoError(t, err)
	b.begin(t, step("m4", 1, "m4"))
	b.end(t, store.End{Session: session, Channel: channel, Turn: "m4", Status: domain.TurnFailed, Reply: "It failed."})
	for _, turn := range []string{"m3", "m4"} {
		out, err := b.ClaimOutbox(t.Context(), domain.OutboxID(turn))
		require.NoError(t, err)
		require.False(t, out.Ratable, "the model did not write it")
	}

	b.deliver(t, domain.OutboxID("m1"), domain.OutboxID("m3"), domain.OutboxID("m4"))
	b.remove(t, 10)
	all, err = b.Ratings(t.Context(), session)
	require.NoError(t, err)
	require.Empty(t, all)
	require.Equal(t, "[]", b.dump(t)["ratings"])
}

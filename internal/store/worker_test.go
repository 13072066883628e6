package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/store"
)

func workers(t *testing.T, b *bundle) {
	require.NoError(t, b.ShowWorker(t.Context(), "w1"))
	all, err := b.Workers(t.Context())
	require.NoError(t, err)
	require.Len(t, all, 1)
	silent := all[0]
	require.Equal(t, "w1", silent.Identity)

	claim := func(w store.Worker, due time.Time) bool {
		claimed, err := b.ClaimWorker(t.Context(), w, store.Claim{Due: due, Until: due.Add(time.Minute)})
		require.NoError(t, err)
		return claimed
	}
	require.True(t, claim(silent, time.Now()))
	require.False(t, claim(silent, time.Now()), "another process has claimed it")
	require.True(t, claim(silent, time.Now().Add(2*time.Minute)))
	require.NoError(t, b.ShowWorker(t.Context(), "w1"))
	require.False(t, claim(silent, time.Now().Add(time.Hour)), "it was seen since")
	require.NoError(t, b.RemoveWorker(t.Context(), "w1"))
	all, err = b.Workers(t.Context())
	require.NoError(t, err)
	require.Empty(t, all)
}

package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// large checks that in a store with a long past the few sessions that need something are
// found.
func large(t *testing.T, b *bundle) {
	const window = 10
	require.NoError(t, storetest.Fill(t.Context(), b.dsn, largeSessions, 2))
	due, err := b.DueScopes(t.Context(), window)
	require.NoError(t, err)
	require.Empty(t, due, "no session has a full window")

	for i := range window / 2 {
		id := fmt.Sprintf("m%d", i)
		b.accept(t, id)
		input := step(id, 1, id)
		input.Scope = func(domain.Inbound) string { return "workspace" }
		b.begin(t, input)
		found, err := b.Due(t.Context(), "workspace", session, window)
		require.NoError(t, err)
		require.False(t, found)
		b.complete(t, id, 1)
	}
	found, err := b.Due(t.Context(), "workspace", session, window)
	require.NoError(t, err)
	require.True(t, found)
	due, err = b.DueScopes(t.Context(), window)
	require.NoError(t, err)
	require.Equal(t, []string{"workspace"}, due)
	batch, found, err := b.NextBatch(t.Context(), "workspace", window, 100)
	require.NoError(t, err)
	require.True(t, found, "behind all other turns")
	require.Equal(t, session, batch.Session)
	require.Equal(t, []string{"m0", "m1"}, batch.Turns)

	listed, err := b.Sessions(t.Context(), 2)
	require.NoError(t, err)
	require.Equal(t, session, listed[0].Key)
	require.Equal(t, "slack:F0", listed[1].Key)
	b.accept(t, "waiting")
	running, err := b.RunningSessions(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{session}, running)
	unused, err := b.Unused(t.Context(), time.Now(), store.Used{}, 1)
	require.NoError(t, err)
	require.Contains(t, unused[0].Session, ":F", "the one that was used first")
}

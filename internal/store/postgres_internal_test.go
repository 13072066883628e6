package store

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

func TestPostgresEndsTransactionsOfFrozenProcesses(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), Options{DSN: storetest.Postgres(t)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	limit, err := get(t.Context(), s, "read the limit", scanText, `SELECT current_setting('idle_in_transaction_session_timeout')`)
	require.NoError(t, err)
	require.Equal(t, "5s", limit)
}

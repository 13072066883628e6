package memory_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

func TestSearchRanksByMatchingWords(t *testing.T) {
	t.Parallel()
	files := setup(t).files
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	found, err := files.Search(memory.Scope{}, []string{"tea"}, 5)
	require.NoError(t, err)
	require.Empty(t, found, "there is no history yet")
	for i, entry := range []string{"Ana likes Tea.", "Ben likes coffee.", "Ana and Ben drank tea with milk."} {
		require.NoError(t, files.AppendHistory(t.Context(), memory.Scope{}, string(rune('a'+i)), entry, at))
	}
	found, err = files.Search(memory.Scope{}, []string{"TEA", "milk"}, 5)
	require.NoError(t, err)
	require.Equal(t, []string{"[2026-03-04 12:00] Ana and Ben drank tea with milk.", "[2026-03-04 12:00] Ana likes Tea."}, found)
	found, err = files.Search(memory.Scope{}, []string{"likes"}, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"[2026-03-04 12:00] Ben likes coffee."}, found)
}

package tooltest_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/tooltest"
)

var _ tool.Journal = (*tooltest.Journal)(nil)

func TestJournal(t *testing.T) {
	t.Parallel()
	killed := errors.New("killed")

	t.Run("the first intent of a part stays", func(t *testing.T) {
		t.Parallel()
		j := tooltest.NewJournal()
		for i, data := range []string{"first", "second"} {
			stored, fresh, err := j.Intend(t.Context(), "a", []byte(data))
			require.NoError(t, err)
			require.Equal(t, i == 0, fresh)
			require.Equal(t, "first", string(stored))
		}
		_, fresh, err := j.Intend(t.Context(), "b", nil)
		require.NoError(t, err)
		require.True(t, fresh)
	})

	for name, stored := range map[string]bool{"a failure before the commit stores nothing": false, "a failure after the commit stores": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := tooltest.NewJournal()
			j.FailNext(killed, stored)
			_, _, err := j.Intend(t.Context(), "a", []byte("first"))
			require.ErrorIs(t, err, killed)
			require.Equal(t, stored, len(j.Intents()) == 1)
			_, fresh, err := j.Intend(t.Context(), "a", []byte("first"))
			require.NoError(t, err)
			require.Equal(t, !stored, fresh)
		})
	}
}

package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

func TestInspect(t *testing.T) {
	t.Parallel()
	for name, dsn := range map[string]string{
		"sqlite": filepath.Join(t.TempDir(), "store.db"), "postgres": storetest.Postgres(t),
	} {
		t.Run("changes nothing, and counts what is there: "+name, func(t *testing.T) {
			t.Parallel()
			c, err := store.Inspect(t.Context(), dsn)
			require.NoError(t, err)
			require.Zero(t, c.Version)
			if name == "sqlite" {
				require.False(t, c.Exists)
				require.NoFileExists(t, dsn)
			}

			s, err := store.Open(t.Context(), store.Options{DSN: dsn})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			_, _, err = s.Accept(t.Context(), domain.Inbound{ID: "m1", Session: "http:a", Channel: "http", Chat: "a", Text: "hi"})
			require.NoError(t, err)
			c, err = store.Inspect(t.Context(), dsn)
			require.NoError(t, err)
			require.True(t, c.Exists)
			require.Positive(t, c.Version)
			require.Equal(t, c.Latest, c.Version)
			require.Equal(t, 1, c.Waiting)
			require.Zero(t, c.Turns)

			_, err = s.Begin(t.Context(), store.BeginInput{
				Session: "http:a", Channel: "http", Turn: "m1", Step: 1, Messages: []string{"m1"}, WorkflowID: "w", RunID: "r",
			})
			require.NoError(t, err)
			c, err = store.Inspect(t.Context(), dsn)
			require.NoError(t, err)
			require.Equal(t, []int{1, 1, 0}, []int{c.Sessions, c.Turns, c.Waiting})
			require.WithinDuration(t, time.Now(), c.UsedAt, time.Minute)
		})
	}

	t.Run("a file that is not a database is reported as damaged", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("junk", 2000)), 0o600))
		_, err := store.Inspect(t.Context(), path)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, "move it away")
	})

	t.Run("a database with a bad page is reported as damaged", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "store.db")
		s, err := store.Open(t.Context(), store.Options{DSN: path})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		_, err = file.WriteAt([]byte(strings.Repeat("junk", 1000)), 2*4096)
		require.NoError(t, err)
		require.NoError(t, file.Close())
		_, err = store.Inspect(t.Context(), path)
		require.ErrorContains(t, err, path)
		require.ErrorContains(t, err, "move it away")
	})

	t.Run("an unreachable server", func(t *testing.T) {
		t.Parallel()
		_, err := store.Inspect(t.Context(), "postgres://nobody:secret@127.0.0.1:1/none?connect_timeout=1")
		require.ErrorContains(t, err, "postgres 127.0.0.1:1/none")
		require.NotContains(t, err.Error(), "secret")
	})
}

package store_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

func sqlite(t testing.TB) string { return filepath.Join(t.TempDir(), "store.db") }

func TestSQLite(t *testing.T) {
	t.Parallel()
	conform(t, func(t *testing.T) string { return sqlite(t) })
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	storetest.Postgres(t)
	conform(t, func(t *testing.T) string { return storetest.Postgres(t) })
}

func TestOpenMakesTheFolderAndAPrivateFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a b", "100%", "c?d#e.db")
	s, err := store.Open(t.Context(), store.Options{DSN: path})
	require.NoError(t, err)
	require.NoError(t, s.Ping(t.Context()))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	info, err = os.Stat(path + "-wal")
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, s.Close())
}

func TestOpenOfANewDatabaseByManyAtOnce(t *testing.T) {
	t.Parallel()
	storetest.Postgres(t)
	for name, dsn := range map[string]string{"sqlite": sqlite(t), "postgres": storetest.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var running sync.WaitGroup
			for range 4 {
				running.Go(func() {
					s, err := store.Open(t.Context(), store.Options{DSN: dsn})
					if err != nil {
						t.Error(err)
						return
					}
					if err := s.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			running.Wait()
		})
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		return path
	}
	tests := []struct{ name, dsn, want string }{
		{"no database", write("text.db", "this is a text and no database at all, however long one reads it"), "not a database; move it away"},
		{"a folder", dir, "the file cannot be written"},
		{"below a file", filepath.Join(write("file", ""), "store.db"), "the folder of the database cannot be created"},
		{"no server", "postgres://nobody@127.0.0.1:1/none?connect_timeout=1", "postgres 127.0.0.1:1/none"},
		{"a broken URL", "postgres://%zz", "open store"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := store.Open(t.Context(), store.Options{DSN: tt.dsn})
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestDamageInTheMiddleOfTheFileIsReported(t *testing.T) {
	t.Parallel()
	path := sqlite(t)
	s, err := store.Open(t.Context(), store.Options{DSN: path})
	require.NoError(t, err)
	_, _, err = s.Accept(t.Context(), domain.Inbound{ID: "m1", Session: "a:b", Text: "x"})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := 4096; i < len(data); i++ {
		data[i] = 0xff
	}
	require.NoError(t, os.WriteFile(path, data, 0o600))

	s, err = store.Open(t.Context(), store.Options{DSN: path})
	if err == nil {
		_, err = s.Inbound(t.Context(), "m1")
		require.NoError(t, s.Close())
	}
	require.ErrorContains(t, err, path)
	require.ErrorContains(t, err, "the file is damaged")
}

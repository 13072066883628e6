package checkpoint_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/checkpoint"
)

func TestRun(t *testing.T) {
	t.Parallel()
	source := "file:" + filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", source+"?_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=wal_autocheckpoint("+checkpoint.Pages+")")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	db.SetMaxOpenConns(1)
	_, err = db.Exec("CREATE TABLE t (v BLOB)")
	require.NoError(t, err)
	_, err = db.Exec("INSERT INTO t VALUES (zeroblob(10000000))") // some 2,400 pages
	require.NoError(t, err)
	copied := func() (pages int) {
		var busy, length int
		require.NoError(t, db.QueryRow("PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &length, &pages))
		return pages
	}
	require.Zero(t, copied(), "no commit copied the log")

	stop, err := checkpoint.Run(t.Context(), source)
	require.NoError(t, err)
	t.Cleanup(stop)
	require.Eventually(t, func() bool { return copied() > 2000 }, 30*time.Second, 10*time.Millisecond)
}

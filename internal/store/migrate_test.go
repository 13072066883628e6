package store_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// newer applies a migration of a later version: one that only adds.
var newer = []string{
	`ALTER TABLE sessions ADD COLUMN mood TEXT NOT NULL DEFAULT ''`,
	`ALTER TABLE inbox ADD COLUMN mood TEXT NOT NULL DEFAULT ''`,
	`ALTER TABLE turns ADD COLUMN mood TEXT`,
	`CREATE TABLE moods (id TEXT PRIMARY KEY)`,
	`INSERT INTO goose_db_version (version_id, is_applied) VALUES (1000, TRUE)`,
}

// database opens a store's database beside it.
func database(t *testing.T, dsn string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if strings.HasPrefix(dsn, "postgres") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func newerSchema(t *testing.T, b *bundle) {
	b.whole(t, "m1")
	for _, statement := range newer {
		_, err := database(t, b.dsn).ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	b.whole(t, "m2")
	require.Len(t, b.transcript(t), 4, "a process that runs already goes on")
	_, err := b.Sessions(t.Context(), 1)
	require.NoError(t, err)

	_, err = store.Open(t.Context(), store.Options{DSN: b.dsn})
	require.ErrorContains(t, err, "have version 1000, made by a newer holdfast, and this one knows version 1: run the newer one")
	c, err := store.Check(t.Context(), b.dsn)
	require.NoError(t, err)
	require.EqualValues(t, 1000, c.Version)
}

// TestMigrationLetsOthersPass has a migration wait for a lock, in whose way another
// statement is: it steps back and tries again.
func TestMigrationLetsOthersPass(t *testing.T) {
	t.Parallel()
	dsn := storetest.Postgres(t)
	db := database(t, dsn)
	other, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	_, err = other.ExecContext(t.Context(), `CREATE TABLE sessions (key TEXT)`)
	require.NoError(t, err)
	opened := make(chan error, 1)
	go func() {
		s, err := store.Open(context.WithoutCancel(t.Context()), store.Options{DSN: dsn})
		if err == nil {
			err = s.Close()
		}
		opened <- err
	}()
	waiting := func(want bool) {
		t.Helper()
		require.Eventually(t, func() bool {
			var found bool
			err := db.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&found)
			return err == nil && found == want
		}, time.Minute, 20*time.Millisecond)
	}
	waiting(true)
	waiting(false)
	require.NoError(t, other.Rollback())
	require.NoError(t, <-opened)
}

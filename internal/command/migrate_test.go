package command

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMigrate makes the tables, finds nothing to do, and refuses tables of a newer version,
// as the processes do.
func TestMigrate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{"HOLDFAST_HOME=" + dir, "HOLDFAST_MODEL=demo", "HOLDFAST_TEMPORAL_PORT=0", "HOLDFAST_TEMPORAL_UI_PORT=0"}
	out, err := runCommand(t, environ, "migrate")
	require.NoError(t, err)
	require.Equal(t, "the store has version 1 now, 0 before\n", out)
	out, err = runCommand(t, environ, "migrate")
	require.NoError(t, err)
	require.Equal(t, "the store has version 1: nothing to do\n", out)

	db, err := sql.Open("sqlite", filepath.Join(dir, "data", "store.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.ExecContext(t.Context(), `INSERT INTO goose_db_version (version_id, is_applied) VALUES (2, TRUE)`)
	require.NoError(t, err)
	for _, command := range []string{"migrate", "up"} {
		out, err := runCommand(t, environ, command)
		require.ErrorContains(t, err, "made by a newer holdfast")
		require.NotContains(t, out, "ready")
	}
}

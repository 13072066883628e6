// Package enginetest runs an engine for a test.
package enginetest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/engine"
)

// Start runs an engine without a UI in a temporary directory, on free ports, with the
// given keyword search attributes, until the test ends.
func Start(t testing.TB, searchAttributes ...string) *engine.Engine {
	t.Helper()
	e, err := engine.Start(t.Context(), engine.Options{
		DataDir:          t.TempDir(),
		UIPort:           -1,
		Durability:       "normal",
		SearchAttributes: searchAttributes,
	})
	require.NoError(t, err)
	t.Cleanup(e.Stop)
	return e
}

// Seed puts the database of an engine that has run before into a data directory: to create
// one takes a quarter of the CPU time of a start.
func Seed(t testing.TB, dataDir string) {
	t.Helper()
	content, err := seed()
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(dataDir, 0o700))
	require.NoFileExists(t, filepath.Join(dataDir, "engine.db"))
	require.NoError(t, os.WriteFile(filepath.Join(dataDir, "engine.db"), content, 0o600))
}

// seed is the database, which is made once for all tests of a process.
var seed = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "holdfast-engine-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	e, err := engine.Start(context.Background(), engine.Options{DataDir: dir, UIPort: -1, Durability: "normal"})
	if err != nil {
		return nil, err
	}
	e.Stop()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "engine.db"))
	if err != nil {
		return nil, err
	}
	defer db.Close()
	whole := filepath.Join(dir, "whole.db") // with what is still in the write-ahead log
	if _, err := db.Exec("VACUUM INTO ?", whole); err != nil {
		return nil, err
	}
	return os.ReadFile(whole)
})

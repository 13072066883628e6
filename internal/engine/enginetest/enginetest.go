// Package enginetest runs an engine for a test.
package enginetest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/engine"
)

// Start runs an engine in a directory of the test's own, on free ports and
// without a UI, with the given keyword search attributes. It ends with the test.
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

// Package enginetest runs an engine for a test.
package enginetest

import (
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

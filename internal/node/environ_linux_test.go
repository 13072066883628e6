package node

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestTheEnvironmentIsHidden does not read it from another process: root, whom
// it cannot be hidden from, may run this.
func TestTheEnvironmentIsHidden(t *testing.T) {
	t.Parallel()
	require.NoError(t, hideEnvironment())
	dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	require.NoError(t, err)
	require.Zero(t, dumpable)
}

package packaging

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestServiceUnit keeps keys and conversations from other users of the machine.
func TestServiceUnit(t *testing.T) {
	t.Parallel()
	unit, err := os.ReadFile("holdfast.service")
	require.NoError(t, err)
	page, err := os.ReadFile("../docs/deploy.md")
	require.NoError(t, err)
	for _, setting := range []string{"User=holdfast", "StateDirectoryMode=0700", "EnvironmentFile=-/etc/holdfast/environment", "KillMode=process"} {
		require.Contains(t, string(unit), "\n"+setting+"\n")
	}
	for _, text := range []string{string(unit), string(page)} {
		require.Contains(t, text, "install -m 0600 /dev/null /etc/holdfast/environment")
		require.Regexp(t, "install -d -m 0?700 /etc/holdfast", text)
	}
}

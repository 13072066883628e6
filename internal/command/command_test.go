package command

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommandsThatAreNone(t *testing.T) {
	t.Parallel()
	environ := []string{"HOLDFAST_HOME=" + t.TempDir()}
	for _, group := range []string{"holdfast", "sessions", "runs", "jobs", "pairing", "slack"} {
		var args []string
		name := "holdfast"
		if group != name {
			args, name = []string{group}, name+" "+group
		}
		help, err := runCommand(t, environ, args...)
		require.NoError(t, err)
		require.Contains(t, help, "Usage:")
		_, err = runCommand(t, environ, append(args, "foo")...)
		require.EqualError(t, err, `unknown command "foo" for "`+name+`"`)
	}
}

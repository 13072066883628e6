package command

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	require.NoError(t, os.Chmod(home, 0o700))
	environ := []string{
		"HOLDFAST_HOME=" + home, "HOLDFAST_MODEL=demo", "HOLDFAST_TEMPORAL_PORT=0", "HOLDFAST_TEMPORAL_UI_PORT=0",
		"HOLDFAST_CHANNELS_HTTP_LISTEN=127.0.0.1:0",
	}
	out, err := runCommand(t, environ, "doctor")
	require.NoError(t, err)
	require.Contains(t, out, "ok    model       the built-in demo")
	require.NotContains(t, out, "fail")

	require.NoError(t, os.Chmod(home, 0o750))
	out, err = runCommand(t, environ, "doctor")
	require.NoError(t, err)
	require.Contains(t, out, "warn  home ")
	require.Contains(t, out, "fix: chmod 700 "+home+"\n")

	out, err = runCommand(t, append(environ, "HOLDFAST_LOG_LEVEL=loud"), "doctor")
	require.ErrorIs(t, err, exitFailed)
	require.Contains(t, out, "fail  config      ")
	require.Contains(t, out, "\n      fix: correct ")
	require.Regexp(t, `\n1 failed, \d+ warnings?\n$`, out)
}

package command

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
)

// runCommand runs a holdfast command in this process and returns its
// output.
func runCommand(t *testing.T, environ []string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := rootCommand(environ)
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(io.Discard)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestInit(t *testing.T) {
	t.Parallel()

	t.Run("makes a home that works and that only we may read", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "new")
		out, err := runCommand(t, []string{"HOLDFAST_HOME=" + dir}, "init")
		require.NoError(t, err)
		written := filepath.Join(dir, "config.yaml")
		data, err := os.ReadFile(written)
		require.NoError(t, err)
		require.Equal(t, config.Example(), data)
		for path, mode := range map[string]os.FileMode{dir: 0o700, written: 0o600, filepath.Join(dir, "data"): 0o700} {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.Equal(t, mode, info.Mode().Perm(), path)
		}
		for _, name := range []string{"AGENTS.md", "SOUL.md", "USER.md", "HEARTBEAT.md"} {
			require.FileExists(t, filepath.Join(dir, "workspace", name))
		}
		require.Contains(t, out, "created         "+written)
		require.Contains(t, out, "created         "+filepath.Join(dir, "workspace", "memory", "MEMORY.md"))
		require.NotContains(t, out, "already")
		require.Contains(t, out, "holdfast up")
	})

	t.Run("never overwrites", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		other := filepath.Join(t.TempDir(), "elsewhere")
		path := filepath.Join(dir, "config.yaml")
		mine := "workspace: " + other + "\n"
		require.NoError(t, os.WriteFile(path, []byte(mine), 0o600))
		require.NoError(t, os.MkdirAll(other, 0o700))
		for _, name := range []string{"SOUL.md", "HEARTBEAT.md"} {
			require.NoError(t, os.WriteFile(filepath.Join(other, name), []byte("mine"), 0o600))
		}
		out, err := runCommand(t, []string{"HOLDFAST_HOME=" + dir}, "init")
		require.NoError(t, err)
		require.Contains(t, out, "already exists  "+path)
		require.Contains(t, out, "created         "+filepath.Join(other, "AGENTS.md"))
		kept, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, mine, string(kept))
		for _, name := range []string{"SOUL.md", "HEARTBEAT.md"} {
			require.Contains(t, out, "already exists  "+filepath.Join(other, name))
			kept, err = os.ReadFile(filepath.Join(other, name))
			require.NoError(t, err)
			require.Equal(t, "mine", string(kept))
		}
	})

	t.Run("a home that cannot be created is an error that names it", func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(dir, nil, 0o600))
		_, err := runCommand(t, []string{"HOLDFAST_HOME=" + dir}, "init")
		require.ErrorContains(t, err, dir)
	})

	t.Run("a broken config is reported and nothing is written", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("agnet: {}\n"), 0o600))
		_, err := runCommand(t, []string{"HOLDFAST_HOME=" + dir}, "init")
		require.ErrorContains(t, err, "agnet")
		require.NoDirExists(t, filepath.Join(dir, "workspace"))
	})
}

package safefile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/safefile"
)

func TestFilesThatAreNotRegular(t *testing.T) {
	t.Parallel()
	root, dir := workspace(t)
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	require.NoError(t, os.Symlink("fifo", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("/dev/zero", filepath.Join(dir, "zero")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o700))
	for _, name := range []string{"fifo", "link", "zero", "folder"} {
		_, err := safefile.Read(root, name, 10)
		require.Error(t, err, name)
		_, _, err = safefile.Text(root, name, 10)
		require.Error(t, err, name)
		require.Error(t, safefile.Write(root, name, strings.NewReader("x")), name)
		require.Contains(t, safefile.Excerpt(root, name, 10), "("+name+" could not be read: ")
		if name != "folder" {
			_, err = safefile.ReadDir(root, name, 10)
			require.Error(t, err, name)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	root, dir := workspace(t)
	huge, err := os.Create(filepath.Join(dir, "huge"))
	require.NoError(t, err)
	require.NoError(t, huge.Truncate(1<<40))
	require.NoError(t, huge.Close())
	_, err = safefile.Read(root, "huge", 1000)
	require.EqualError(t, err, "larger than 1000 bytes")
	_, cut, err := safefile.Text(root, "huge", 1000)
	require.NoError(t, err)
	require.True(t, cut)

	require.NoError(t, safefile.Write(root, "c", strings.NewReader("longer")))
	require.NoError(t, safefile.Write(root, "c", strings.NewReader("short")))
	data, err := safefile.Read(root, "c", 5)
	require.NoError(t, err)
	require.Equal(t, "short", string(data))
	_, err = safefile.Read(root, "c", 4)
	require.EqualError(t, err, "larger than 4 bytes")

	require.NoError(t, root.Mkdir("a", 0o700))
	entries, err := safefile.ReadDir(root, ".", 10)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	require.Equal(t, []string{"a", "c", "huge"}, names)
	entries, err = safefile.ReadDir(root, ".", 2)
	require.NoError(t, err)
	require.Len(t, entries, 2)
	entries, err = safefile.ReadDir(root, "a", 2)
	require.NoError(t, err)
	require.Empty(t, entries)
	_, err = safefile.ReadDir(root, "b", 2)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func workspace(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, root.Close()) })
	return root, dir
}

package memory_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

// versions stores each version as a file in a folder, for several processes.
type versions struct {
	dir  string
	fail error // of the next Save with this, and of all after it
	on   string
}

func (v *versions) SaveVersion(_ context.Context, path, hash string, content []byte) error {
	if v.fail != nil && strings.Contains(string(content), v.on) {
		return v.fail
	}
	temp, err := os.CreateTemp(v.dir, "temp")
	if err != nil {
		return err
	}
	if _, err := temp.Write(content); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), v.file(path, hash))
}

func (v *versions) file(path, hash string) string {
	return filepath.Join(v.dir, strings.ReplaceAll(path, "/", "_")+"."+hash)
}

// has reports whether content is stored as a version of the file.
func (v *versions) has(t *testing.T, path, content string) bool {
	t.Helper()
	kept, err := os.ReadFile(v.file(path, hashOf(content)))
	if os.IsNotExist(err) {
		return false
	}
	require.NoError(t, err)
	require.Equal(t, content, string(kept))
	return true
}

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

type bundle struct {
	dir      string
	versions *versions
	files    *memory.Files
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{dir: t.TempDir(), versions: &versions{dir: t.TempDir()}}
	files, err := memory.New(memory.Options{Workspace: b.dir, Versions: b.versions})
	require.NoError(t, err)
	b.files = files
	return b
}

func (b *bundle) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func (b *bundle) content(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(b.dir, name))
	require.NoError(t, err)
	return string(content)
}

// names returns the entries of the memory folder.
func (b *bundle) names(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(b.dir, "memory"))
	require.NoError(t, err)
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

package fs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/tool"
	"github.com/holdfast-ai/holdfast/internal/tool/fs"
	"github.com/holdfast-ai/holdfast/internal/tool/tooltest"
)

type args map[string]any

// bundle is a workspace with the tools on it, beside a directory that is not in it.
type bundle struct {
	dir     string
	outside string
	tools   tool.Registry
}

func setup(t *testing.T, restrict bool) *bundle {
	t.Helper()
	top := t.TempDir()
	b := &bundle{dir: filepath.Join(top, "workspace"), outside: filepath.Join(top, "outside")}
	require.NoError(t, os.Mkdir(b.dir, 0o755))
	require.NoError(t, os.Mkdir(b.outside, 0o755))
	tools, err := fs.New(fs.Options{Workspace: b.dir, Restrict: restrict})
	require.NoError(t, err)
	require.NoError(t, b.tools.Register(tools...))
	return b
}

func (b *bundle) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(b.dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func (b *bundle) content(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(b.dir, name))
	require.NoError(t, err)
	return string(content)
}

// names are the entries of the workspace's top directory.
func (b *bundle) names(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// attempt runs a tool once, with a journal that earlier attempts may have used.
func (b *bundle) attempt(t *testing.T, journal tool.Journal, name string, arguments args) (string, error) {
	t.Helper()
	data, err := json.Marshal(arguments)
	require.NoError(t, err)
	found, err := b.tools.Lookup(t.Context(), name)
	require.NoError(t, err)
	result, err := found.Run(t.Context(), tool.Call{Key: "m1.1.0", Arguments: data, Journal: journal})
	return result.Text, err
}

func (b *bundle) run(t *testing.T, name string, arguments args) (string, error) {
	t.Helper()
	return b.attempt(t, tooltest.NewJournal(), name, arguments)
}

func (b *bundle) must(t *testing.T, name string, arguments args) string {
	t.Helper()
	text, err := b.run(t, name, arguments)
	require.NoError(t, err)
	return text
}

package prompt_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/prompt"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

func TestLoadReadsBootstrapFilesInOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "TOOLS.md", "\uFEFFtools\n")
	write(t, dir, "AGENTS.md", "agents \xff\n")
	write(t, dir, "SOUL.md", "\n\n")
	write(t, dir, "OTHER.md", "not read")
	files, err := prompt.Load(dir)
	require.NoError(t, err)
	require.Equal(t, []prompt.File{{Name: "AGENTS.md", Text: "agents \uFFFD"}, {Name: "TOOLS.md", Text: "tools"}}, files)
}

func TestLoadOrdersAllFiveFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	all := []string{"AGENTS.md", "SOUL.md", "USER.md", "TOOLS.md", "IDENTITY.md"}
	for _, name := range all {
		write(t, dir, name, "text of "+name)
	}
	files, err := prompt.Load(dir)
	require.NoError(t, err)
	require.Len(t, files, len(all))
	for i, name := range all {
		require.Equal(t, prompt.File{Name: name, Text: "text of " + name}, files[i])
	}
}

func TestLoadOfAnEmptyWorkspace(t *testing.T) {
	t.Parallel()
	files, err := prompt.Load(t.TempDir())
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestLoadNeedsAWorkspace(t *testing.T) {
	t.Parallel()
	_, err := prompt.Load(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestLoadCutsLargeFilesBetweenCharacters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "AGENTS.md", "x"+strings.Repeat("é", 64<<10))
	write(t, dir, "SOUL.md", strings.Repeat("m", 64<<10))
	files, err := prompt.Load(dir)
	require.NoError(t, err)
	text := files[0].Text
	require.True(t, strings.HasSuffix(text, "é\n\n… (cut: the first 64 KB of AGENTS.md)"), text[len(text)-60:])
	require.True(t, utf8.ValidString(text))
	require.NotContains(t, text, "\uFFFD")
	require.Len(t, files[1].Text, 64<<10, "one that just fits is whole")
}

func TestLoadNotesUnreadableFiles(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "secret", "secret")
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "AGENTS.md")))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "SOUL.md"), 0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "USER.md"), 0o644))
	files, err := prompt.Load(dir)
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		require.True(t, strings.HasPrefix(file.Text, "("+file.Name+" could not be read: "), file.Text)
	}
}

func TestWriteTemplatesNeverOverwrites(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "workspace")
	written, err := prompt.WriteTemplates(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"AGENTS.md", "SOUL.md", "USER.md", "memory/MEMORY.md"}, written)

	require.NoError(t, os.Remove(filepath.Join(dir, "USER.md")))
	write(t, dir, "AGENTS.md", "mine")
	written, err = prompt.WriteTemplates(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"USER.md"}, written)
	kept, err := os.ReadFile(filepath.Join(dir, "AGENTS.md"))
	require.NoError(t, err)
	require.Equal(t, "mine", string(kept))

	files, err := prompt.Load(dir)
	require.NoError(t, err)
	require.Len(t, files, 3)
}

func TestWriteTemplatesNamesTheFileItCannotWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "memory", "in the way")
	written, err := prompt.WriteTemplates(dir)
	require.ErrorContains(t, err, "write memory/MEMORY.md")
	require.Equal(t, []string{"AGENTS.md", "SOUL.md", "USER.md"}, written)
}

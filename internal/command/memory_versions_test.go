package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// remembers creates a store and returns the memory of a home.
func remembers(t *testing.T, home string) *memory.Files {
	t.Helper()
	cfg := config.Default(home)
	require.NoError(t, os.MkdirAll(cfg.Workspace, 0o700))
	require.NoError(t, os.MkdirAll(cfg.DataDir(), 0o700))
	stored, err := store.Open(t.Context(), store.Options{DSN: cfg.StoreDSN()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stored.Close()) })
	files, err := memory.New(memory.Options{Workspace: cfg.Workspace, Versions: stored})
	require.NoError(t, err)
	return files
}

func TestMemoryVersions(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	files := remembers(t, home)
	path := filepath.Join(config.Default(home).Workspace, "memory", "MEMORY.md")
	run := func(args ...string) string {
		t.Helper()
		out, err := runCommand(t, []string{"HOLDFAST_HOME=" + home}, append([]string{"memory"}, args...)...)
		require.NoError(t, err)
		return out
	}
	refused := func(args ...string) string {
		t.Helper()
		_, err := runCommand(t, []string{"HOLDFAST_HOME=" + home}, append([]string{"memory"}, args...)...)
		require.Error(t, err)
		return err.Error()
	}
	require.Equal(t, "no versions of memory/MEMORY.md yet\n", run("versions"))
	require.JSONEq(t, "[]", run("versions", "--json"))
	require.Equal(t, "memory/MEMORY.md not found", refused("show"))

	// The model drops a line, and a user edits the file in Latin-1.
	require.NoError(t, files.Update(t.Context(), memory.Scope{}, "", "- the cat is named Miou\n- likes tea"))
	_, first, err := files.Read(t.Context(), memory.Scope{})
	require.NoError(t, err)
	require.NoError(t, files.Update(t.Context(), memory.Scope{}, first, "- likes tea\x1b[31m"))
	edited := "- likes tea with M\xfcller\n"
	require.NoError(t, os.WriteFile(path, []byte(edited), 0o600))

	lines := strings.Split(strings.TrimSpace(run("versions", "workspace")), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, `^VERSION +KEPT +BYTES +PRESENT +BEGINS$`, lines[0])
	require.Contains(t, lines[1], "no       - likes tea")
	require.NotContains(t, lines[1], "\x1b")
	require.Regexp(t, `^`+first[:12]+` .*  36     no       - the cat is named Miou - likes tea$`, lines[2])
	require.Equal(t, edited, run("show"), "as it is")
	require.Equal(t, "- the cat is named Miou\n- likes tea\n", run("show", "", "--version", first[:6]))

	out := run("restore", "workspace", first[:12])
	require.Regexp(t, `^restored memory/MEMORY.md to its version of .*; the previous content is version [0-9a-f]{12}\n$`, out)
	require.Equal(t, "- the cat is named Miou\n- likes tea\n", run("show"))
	require.Contains(t, run("restore", "", first), "is already at that version")
	before := regexp.MustCompile(`version ([0-9a-f]{12})`).FindStringSubmatch(out)[1]
	require.Equal(t, edited, run("show", "--version", before), "what it was is kept, as it was")
	var rows []versionRow
	require.NoError(t, json.Unmarshal([]byte(run("versions", "--json")), &rows))
	require.Len(t, rows, 3)
	require.Equal(t, before, rows[0].ID[:12])
	for _, row := range rows {
		require.Equal(t, row.ID == first, row.Present)
	}
	run("restore", "workspace", before)
	require.Equal(t, edited, run("show"), "and can be had back")

	require.Contains(t, refused("restore", "workspace", "0123456789"), "version 0123456789 of memory/MEMORY.md not found; see `holdfast memory versions workspace`")
	require.Contains(t, refused("restore", "workspace", "0"), "is too short")
	require.Contains(t, refused("versions", "../secrets"), `invalid memory scope "../secrets"`)
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	require.Contains(t, refused("restore", "workspace", first), "not a regular file")
	require.Contains(t, refused("show"), "not a regular file")
}

func TestMemoryVersionsOfAPerson(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	files := remembers(t, home)
	scope := memory.Scope{Kind: memory.Sender, Channel: "http", ID: "ana"}
	require.NoError(t, files.Update(t.Context(), scope, "", "hers"))
	out, err := runCommand(t, []string{"HOLDFAST_HOME=" + home}, "memory", "versions", scope.String())
	require.NoError(t, err)
	require.Contains(t, out, "yes      hers")
	out, err = runCommand(t, []string{"HOLDFAST_HOME=" + home}, "memory", "show", scope.String())
	require.NoError(t, err)
	require.Equal(t, "hers\n", out)
}

func TestMemoryWithoutAStore(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environ := []string{"HOLDFAST_HOME=" + home}
	write(t, home, "workspace/memory/MEMORY.md", "- likes tea\n")
	out, err := runCommand(t, environ, "memory", "show")
	require.NoError(t, err)
	require.Equal(t, "- likes tea\n", out)
	out, err = runCommand(t, environ, "memory", "versions")
	require.NoError(t, err)
	require.Contains(t, out, "no version")
	_, err = runCommand(t, environ, "memory", "restore", "workspace", "01234567")
	require.ErrorContains(t, err, "version 01234567 of ")
	require.NoDirExists(t, filepath.Join(home, "data"), "nothing is made")
}

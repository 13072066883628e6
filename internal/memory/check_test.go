package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

// problems returns the problems of each scope's memory.
func (b *bundle) problems(t *testing.T) map[string][]string {
	t.Helper()
	found, err := memory.Check(b.dir)
	require.NoError(t, err)
	require.Equal(t, "workspace", found[0].Scope)
	all := map[string][]string{}
	for _, c := range found {
		all[c.Scope] = []string{}
		for _, problem := range c.Problems {
			require.ErrorIs(t, problem, memory.ErrUnusable)
			all[c.Scope] = append(all[c.Scope], strings.ReplaceAll(problem.Error(), ": cannot be used", ""))
		}
	}
	return all
}

func TestCheckReportsUnusableFiles(t *testing.T) {
	t.Parallel()
	b, outside := setup(t), t.TempDir()
	require.Equal(t, map[string][]string{"workspace": {}}, b.problems(t))
	require.NoDirExists(t, filepath.Join(b.dir, "memory"), "it makes nothing")

	b.write(t, facts, "- likes tea\n")
	b.write(t, history, "[2026-03-04 15:06] Ana asked for tea.\n")
	b.write(t, "memory/notes/MEMORY.md", "\xff no scope's")
	b.write(t, "memory/sender-slack-T1-U2/MEMORY.md", "M\xfcller")
	b.write(t, "memory/sender-slack-T1-U3/MEMORY.md", strings.Repeat("x", memory.Limit+1))
	b.write(t, "memory/sender-slack-T1-U4/MEMORY.md", strings.Repeat("x", memory.Limit))
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "memory/channel-slack-T1-C1/MEMORY.md"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "memory/channel-slack-T1-C1/HISTORY.md"), 0o755))
	require.NoError(t, os.Symlink(outside, filepath.Join(b.dir, "memory/channel-slack-T1-C2")))
	require.NoError(t, os.MkdirAll(filepath.Join(b.dir, "memory/channel-slack-T1-C3"), 0o755))
	require.NoError(t, os.Symlink(filepath.Join(outside, "MEMORY.md"), filepath.Join(b.dir, "memory/channel-slack-T1-C3/MEMORY.md")))
	const leadsOut = ": path escapes from parent; put it into the workspace, readable and writable by this user"
	require.Equal(t, map[string][]string{
		"workspace":          {},
		"sender-slack-T1-U2": {"memory/sender-slack-T1-U2/MEMORY.md: not UTF-8; save it as UTF-8"},
		"sender-slack-T1-U3": {"memory/sender-slack-T1-U3/MEMORY.md: longer than the 64 KB that fit into a prompt; shorten it"},
		"sender-slack-T1-U4": {},
		"channel-slack-T1-C1": {
			"memory/channel-slack-T1-C1/MEMORY.md: not a regular file; move it away",
			"memory/channel-slack-T1-C1/HISTORY.md: not a regular file; move it away",
		},
		"channel-slack-T1-C2": {
			"memory/channel-slack-T1-C2/MEMORY.md" + leadsOut,
			"memory/channel-slack-T1-C2/HISTORY.md" + leadsOut,
		},
		"channel-slack-T1-C3": {"memory/channel-slack-T1-C3/MEMORY.md: a symbolic link; replace it with the file itself"},
	}, b.problems(t))

	require.NoError(t, os.RemoveAll(filepath.Join(b.dir, "memory")))
	require.NoError(t, os.Symlink(outside, filepath.Join(b.dir, "memory")))
	require.Equal(t, map[string][]string{"workspace": {"memory" + leadsOut}}, b.problems(t))
	_, err := memory.Check(filepath.Join(b.dir, "none"))
	require.Error(t, err)
}

func TestRestore(t *testing.T) {
	t.Parallel()
	b := setup(t)
	content, version, err := b.files.Present(memory.Scope{})
	require.NoError(t, err)
	require.Empty(t, string(content)+version)

	require.NoError(t, b.files.Update(t.Context(), memory.Scope{}, "", "- the cat is named Miou"))
	b.write(t, facts, "edited, and read by nobody \xff")
	require.NoError(t, b.files.Restore(t.Context(), memory.Scope{}, []byte("- the cat is named Miou\n")))
	content, version, err = b.files.Present(memory.Scope{})
	require.NoError(t, err)
	require.Equal(t, "- the cat is named Miou\n", string(content))
	require.Equal(t, hashOf(string(content)), version)
	require.True(t, b.versions.has(t, facts, "edited, and read by nobody \xff"), "what it was before is a version too")

	require.NoError(t, b.files.Restore(t.Context(), ana, []byte("hers")))
	require.Equal(t, "hers", b.content(t, ana.Facts()))
	require.NoError(t, os.Remove(filepath.Join(b.dir, facts)))
	require.NoError(t, os.Mkdir(filepath.Join(b.dir, facts), 0o755))
	require.ErrorIs(t, b.files.Restore(t.Context(), memory.Scope{}, nil), memory.ErrUnusable)
	_, _, err = b.files.Present(memory.Scope{})
	require.ErrorIs(t, err, memory.ErrUnusable)
}

package memory_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/memory"
)

func TestKilledProcessLeavesCompleteFiles(t *testing.T) {
	if name := os.Getenv(envName); name != "" {
		consolidate(t, name)
		return
	}
	t.Parallel()
	b := setup(t)
	b.write(t, facts, "- first\n")
	for kill := range 5 {
		b.killAfter(t, kill)
		text := b.content(t, facts)
		require.True(t, strings.HasSuffix(text, "\n"), "it is a whole version")
		_, version, err := b.files.Read(t.Context(), memory.Scope{})
		require.NoError(t, err)
		require.Equal(t, hashOf(text), version)
		require.True(t, b.versions.has(t, facts, text))
	}
	_, err := b.process(t, "a")
	require.NoError(t, err)
	history := b.content(t, "memory/HISTORY.md")
	for i := range rounds {
		require.Equal(t, 1, strings.Count(history, fmt.Sprintf("\n<!-- a/%d -->\n", i)), "however often it was tried")
	}
	require.NotContains(t, b.names(t), ".MEMORY.md.holdfast", "the next writer settles what was left")
}

// doomed ends the process when a version is saved for the second time: after it
// was replaced.
type doomed struct {
	*versions
	content string
	seen    int
}

func (d *doomed) SaveVersion(ctx context.Context, path, hash string, content []byte) error {
	if string(content) == d.content {
		if d.seen++; d.seen == 2 {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	}
	return d.versions.SaveVersion(ctx, path, hash, content)
}

func TestProcessKilledDuringReplace(t *testing.T) {
	if dir := os.Getenv(envWorkspace); dir != "" {
		files, err := memory.New(memory.Options{
			Workspace: dir, Versions: &doomed{versions: &versions{dir: os.Getenv(envVersions)}, content: "old"},
		})
		require.NoError(t, err)
		_, version, err := files.Read(t.Context(), memory.Scope{})
		require.NoError(t, err)
		require.NoError(t, files.Update(t.Context(), memory.Scope{}, version, "new"))
		return
	}
	t.Parallel()
	b := setup(t)
	b.write(t, facts, "old")
	_, err := b.process(t, "")
	require.ErrorContains(t, err, "killed")
	require.Equal(t, "new\n", b.content(t, facts))
	require.Equal(t, "old", b.content(t, "memory/.MEMORY.md.holdfast"))

	require.NoError(t, b.files.Update(t.Context(), memory.Scope{}, hashOf("old"), "new"), "tried again, it is done")
	require.Equal(t, []string{".lock", "MEMORY.md"}, b.names(t))
	require.True(t, b.versions.has(t, facts, "old"))
	require.True(t, b.versions.has(t, facts, "new\n"))
}

// killAfter starts [consolidate] and kills it right after it reported that many
// updates, in whatever it does then.
func (b *bundle) killAfter(t *testing.T, updates int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), envWorkspace+"="+b.dir, envVersions+"="+b.versions.dir, envName+"=a")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for seen := 0; seen < updates && lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "replaced ") {
			seen++
		}
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

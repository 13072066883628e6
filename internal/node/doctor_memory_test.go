package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

func TestDoctorFindsMemoriesAndSkillsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	out, failed := examine(t, doctorHome(dir))
	require.False(t, failed, out)
	require.NotContains(t, out, "memory  ", "there is no workspace yet")

	write(t, dir, "workspace/memory/MEMORY.md", "- likes tea\n")
	write(t, dir, "workspace/memory/sender-slack-T1-U2/MEMORY.md", "- likes coffee\n")
	write(t, dir, "workspace/skills/fine/SKILL.md", "---\nname: fine\n---\ntext")
	out, failed = examine(t, doctorHome(dir))
	require.False(t, failed, out)
	require.Contains(t, finding(t, out, "ok", "memory"), "MEMORY.md has 12 bytes; 1 people and chats have their own")
	require.Contains(t, finding(t, out, "ok", "skills"), "1 in the workspace, 7 built in")
	require.NoDirExists(t, filepath.Join(dir, "workspace/.holdfast"), "it makes nothing")

	write(t, dir, "workspace/memory/MEMORY.md", "- M\xfcller likes tea\n")
	write(t, dir, "workspace/memory/sender-slack-T1-U3/MEMORY.md", strings.Repeat("- a fact\n", 8<<10))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "workspace/memory/sender-slack-T1-U4/MEMORY.md"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "workspace/memory/sender-slack-T1-U5"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(outside, "x"), filepath.Join(dir, "workspace/memory/sender-slack-T1-U5/MEMORY.md")))
	write(t, dir, "workspace/skills/open/SKILL.md", "---\nname: open\ntext")
	write(t, dir, "workspace/skills/long/SKILL.md", "---\nname: long\nalways: true\n---\n"+strings.Repeat("x", 70<<10))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "workspace/skills/secret")))
	write(t, outside, "SKILL.md", "secret")
	out, failed = examine(t, doctorHome(dir))
	require.True(t, failed, out)
	for _, want := range []string{
		"fail  memory      memory/MEMORY.md: cannot be used: not UTF-8; conversations are no longer consolidated into the memory of workspace\n      fix: save it as UTF-8\n",
		"memory/sender-slack-T1-U3/MEMORY.md: cannot be used: longer than the 64 KB that fit into a prompt; conversations are no longer consolidated into the memory of sender-slack-T1-U3\n      fix: shorten it\n",
		"memory/sender-slack-T1-U4/MEMORY.md: cannot be used: not a regular file; conversations are no longer consolidated into the memory of sender-slack-T1-U4\n      fix: move it away\n",
		"memory/sender-slack-T1-U5/MEMORY.md: cannot be used: a symbolic link; conversations are no longer consolidated into the memory of sender-slack-T1-U5\n      fix: replace it with the file itself\n",
		"warn  skills      open (" + filepath.Join(dir, "workspace/skills/open/SKILL.md") + "): its front matter has no end\n      fix: add a line --- after it\n",
		"): it is not in every prompt although it sets always: such skills share 64 KB\n      fix: shorten it\n",
		"): it cannot be used: statat skills/secret/SKILL.md: path escapes from parent\n      fix: make it a readable file inside the workspace\n",
	} {
		require.Contains(t, out, want)
	}
	require.NotContains(t, out, "sender-slack-T1-U2")
}

func TestDoctorFindsConsolidationsThatFailed(t *testing.T) {
	t.Parallel()
	model := llmtest.NewFunc(t, func(llmtest.Request) llmtest.Step { return llmtest.Text("I will remember that.") })
	n := startNode(t, model.URL)
	ask(t, n, "I like tea")
	ask(t, n, "/new")
	require.Eventually(t, func() bool {
		_, why := n.Temporal.FailedConsolidation(t.Context(), "workspace")
		return why != ""
	}, time.Minute, 20*time.Millisecond)
	require.Equal(t, 1+3, model.Count(), "a handful of calls, and a rest")
	out, failed := examine(t, providerAt(n.Config.Home, model.URL))
	require.False(t, failed, out)
	found := finding(t, out, "warn", "memory")
	require.Regexp(t, "the last consolidation into the memory of workspace failed at [-: 0-9]+: the model gave no valid answer", found)
	require.Contains(t, found, "fix: fix the cause")
}

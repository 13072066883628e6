package activities_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/memory"
)

// unkept forgets the versions of memory's files.
type unkept struct{}

func (unkept) SaveVersion(context.Context, string, string, []byte) error { return nil }

// remembering gives the agent the memory of its workspace.
func (b *bundle) remembering(t *testing.T) {
	t.Helper()
	var err error
	b.options.Memory.Files, err = memory.New(memory.Options{Workspace: b.workspace, Versions: unkept{}})
	require.NoError(t, err)
	b.options.Memory.Scope = func(string, string, string) memory.Scope { return memory.Scope{} }
	b.options.Memory.Consolidate = func(context.Context, string) error { return nil }
	b.agent, err = activities.NewAgent(b.options)
	require.NoError(t, err)
}

func TestSystemPrompt(t *testing.T) {
	t.Parallel()
	b := setup(t, calls(1, "noop", `{}`), llmtest.Text("done"), llmtest.Text("again"))
	b.remembering(t)
	day := func(n int) string { return "memory/" + time.Now().AddDate(0, 0, n).Format(time.DateOnly) + ".md" }
	for name, text := range map[string]string{
		"IDENTITY.md": "identity", "TOOLS.md": "tools", "USER.md": "user", "SOUL.md": "soul", "AGENTS.md": "agents", "README.md": "not read",
		"memory/MEMORY.md": "likes tea", "memory/HISTORY.md": "[2026-03-04 12:00] They spoke of coffee.",
		day(-1): "sun yesterday", day(0): "rain today", day(1): "rain today", // midnight may pass
		"skills/tea/SKILL.md": "---\nname: tea\ndescription: Makes tea.\nalways: true\n---\nSteep it.\n",
	} {
		path := filepath.Join(b.workspace, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	b.asked(t)
	require.NoError(t, os.WriteFile(filepath.Join(b.workspace, "SOUL.md"), []byte("another soul"), 0o600))
	_, err := b.complete(t, "m1", 2)
	require.NoError(t, err)
	b.accept(t, "m2", "and now?", false)
	_, err = b.complete(t, "m2", 1, "m2")
	require.NoError(t, err)
	system := func(request int) string { return b.model.Requests()[request].Messages[0].Content.Text }

	sections := strings.Split(system(0), "\n\n---\n\n")
	require.Len(t, sections, 5)
	require.True(t, strings.HasPrefix(sections[0], "# Holdfast\n"), sections[0])
	require.Contains(t, sections[0], runtime.GOOS+", "+runtime.GOARCH)
	for _, path := range []string{b.workspace + ".", b.workspace + "/memory/MEMORY.md", b.workspace + "/memory/HISTORY.md", b.workspace + "/skills/NAME/SKILL.md"} {
		require.Contains(t, sections[0], path)
	}
	require.Equal(t, "## AGENTS.md\n\nagents\n\n## SOUL.md\n\nsoul\n\n## USER.md\n\nuser\n\n## TOOLS.md\n\ntools\n\n## IDENTITY.md\n\nidentity", sections[1])
	require.Equal(t, "# Memory\n\n## Long-term Memory\n\nlikes tea\n\n## Today's Notes\n\nrain today", sections[2])
	require.True(t, strings.HasPrefix(sections[3], "# Active Skills\n\n## Skill: tea\n\nSteep it."), sections[3])
	require.True(t, strings.HasPrefix(sections[4], "# Skills\n\n<skills>\n"), sections[4])
	require.True(t, strings.HasSuffix(sections[4], "</skills>"), sections[4])

	require.Equal(t, system(0), system(1), "a turn keeps its prompt")
	require.Contains(t, system(2), "another soul", "the next one has it made anew")
}

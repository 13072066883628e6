package skill_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/skill"
)

// always is a SKILL.md whose text, of so many bytes, is to be in every prompt.
func always(size int) string {
	return "---\nalways: true\n---\n" + strings.Repeat("x", size)
}

// active are the names of the skills that are in every prompt, and the problems of
// those that have any.
func active(t *testing.T, dir string) (names []string, problems map[string]string) {
	t.Helper()
	skills, err := skill.Load(dir, nothing)
	require.NoError(t, err)
	problems = map[string]string{}
	for _, s := range skills {
		if s.Active {
			names = append(names, s.Name)
			require.Contains(t, skill.Active(skills), "## Skill: "+s.Name+"\n\n"+s.Text)
		}
		if s.Problem != "" {
			problems[s.Name] = s.Problem
		}
	}
	require.Less(t, len(skill.Active(skills)), 65<<10)
	return names, problems
}

func TestOversizedSkillIsSkipped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "skills/a/SKILL.md", always(70<<10))
	write(t, dir, "skills/b/SKILL.md", always(100))
	names, problems := active(t, dir)
	require.Equal(t, []string{"b", "memory"}, names)
	require.Len(t, problems, 1)
	require.Contains(t, problems["a"], "it is not in every prompt although it sets always")
	require.Contains(t, problems["a"], "shorten it")
}

func TestSkillsBeyondTheLimitAreSkippedWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		write(t, dir, "skills/"+name+"/SKILL.md", always(32<<10-200))
	}
	write(t, dir, "skills/e/SKILL.md", always(100))
	names, problems := active(t, dir)
	require.Equal(t, []string{"a", "e", "memory"}, names, "a built-in one has its room, and a short one finds some")
	require.Len(t, problems, 1)
	require.Contains(t, problems["b"], "shorten it")
}

func TestInspectFindsProblemsAndWritesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"fine":     "---\nname: fine\ndescription: Use it for: tea\n---\ntext",
		"open":     "---\nname: open\ndescription: It has no end\n\ntext",
		"broken":   "---\nname: broken\nholdfast: {requires: {bins: [git}\n---\ntext",
		"nested":   "---\nname: nested\nholdfast:\n  requires:\n bins: [x\n---\ntext",
		"large":    "---\nname: large\n---\n" + strings.Repeat("x", 70<<10),
		"no front": "text",
	} {
		write(t, dir, "skills/"+name+"/SKILL.md", text)
	}
	skills, err := skill.Inspect(dir, nothing)
	require.NoError(t, err)
	problems, builtin := map[string]string{}, 0
	for _, s := range skills {
		if s.Builtin {
			builtin++
		}
		if s.Problem != "" {
			problems[s.Name] = s.Problem
		}
	}
	require.Len(t, problems, 4)
	require.Equal(t, "its front matter has no end; add a line --- after it", problems["open"])
	require.Contains(t, problems["broken"], "its front matter is not valid YAML at holdfast")
	require.Contains(t, problems["nested"], "its front matter is not valid YAML at holdfast")
	require.Contains(t, problems["large"], "it is larger than 64 KB")
	require.Equal(t, 7, builtin)
	require.NoDirExists(t, filepath.Join(dir, ".holdfast"))
}

package skill_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/skill"
	"github.com/holdfast-ai/holdfast/internal/tool"
	toolfs "github.com/holdfast-ai/holdfast/internal/tool/fs"
)

// nothing is an environment without commands and variables.
var nothing = environment(nil, nil)

func environment(commands []string, variables map[string]string) skill.Environment {
	return skill.Environment{
		LookPath: func(file string) (string, error) {
			if slices.Contains(commands, file) {
				return "/bin/" + file, nil
			}
			return "", errors.New("not found")
		},
		LookupEnv: func(name string) (string, bool) {
			value, ok := variables[name]
			return value, ok
		},
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// own are the skills that do not come with Holdfast.
func own(t *testing.T, dir string, env skill.Environment) []skill.Skill {
	t.Helper()
	skills, err := skill.Load(dir, env)
	require.NoError(t, err)
	var found []skill.Skill
	for _, s := range skills {
		if !s.Builtin {
			found = append(found, s)
		}
	}
	return found
}

func TestLoadFindsNewSkills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Empty(t, own(t, dir, nothing))

	write(t, dir, "skills/b/SKILL.md", "---\nname: b\ndescription: Second\n---\n\n# B\n")
	write(t, dir, "skills/a/SKILL.md", "no front matter")
	write(t, dir, "skills/README.md", "not a skill")
	write(t, dir, "skills/empty/notes.md", "not a skill")
	write(t, dir, "skills/.git/SKILL.md", "hidden")
	require.Equal(t, []skill.Skill{
		{Name: "a", Description: "a", Location: filepath.Join(dir, "skills/a/SKILL.md"), Available: true, Text: "no front matter"},
		{Name: "b", Description: "Second", Location: filepath.Join(dir, "skills/b/SKILL.md"), Available: true, Text: "# B"},
	}, own(t, dir, nothing))

	require.NoError(t, os.RemoveAll(filepath.Join(dir, "skills/a")))
	require.Len(t, own(t, dir, nothing), 1)
}

func TestLoadNeedsAWorkspace(t *testing.T) {
	t.Parallel()
	_, err := skill.Load(filepath.Join(t.TempDir(), "none"), nothing)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestWorkspaceSkillReplacesBuiltin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "skills/github/SKILL.md", "mine")
	write(t, dir, "skills/forecast/SKILL.md", "---\nname: weather\n---\nmine")
	skills, err := skill.Load(dir, nothing)
	require.NoError(t, err)
	count := map[string]int{}
	for _, s := range skills {
		count[s.Name]++
		if s.Name == "github" || s.Name == "weather" {
			require.Equal(t, "mine", s.Text)
			require.False(t, s.Builtin)
		}
	}
	require.Equal(t, map[string]int{
		"github": 1, "weather": 1, "memory": 1, "jobs": 1, "summarize": 1, "tmux": 1, "skill-creator": 1,
	}, count)
}

func TestRequirementsAreChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "skills/a/SKILL.md", "---\nholdfast: {requires: {bins: [git, gh], env: [TOKEN, EMPTY]}}\n---\n")
	missing := func(env skill.Environment) []string { return own(t, dir, env)[0].Missing }
	require.Equal(t, []string{"CLI: git", "CLI: gh", "ENV: TOKEN", "ENV: EMPTY"}, missing(nothing))
	require.Equal(t, []string{"CLI: gh", "ENV: EMPTY"},
		missing(environment([]string{"git"}, map[string]string{"TOKEN": "x", "EMPTY": ""})))
	all := environment([]string{"git", "gh"}, map[string]string{"TOKEN": "x", "EMPTY": "y"})
	require.Empty(t, missing(all))
	require.True(t, own(t, dir, all)[0].Available)
}

func TestZeroEnvironmentIsTheProcess(t *testing.T) {
	t.Setenv("HOLDFAST_TEST_SKILL", "set")
	dir := t.TempDir()
	write(t, dir, "skills/a/SKILL.md", "---\nholdfast: {requires: {bins: [sh, no-such-command-here], env: [HOLDFAST_TEST_SKILL, HOLDFAST_TEST_UNSET]}}\n---\n")
	require.Equal(t, []string{"CLI: no-such-command-here", "ENV: HOLDFAST_TEST_UNSET"}, own(t, dir, skill.Environment{})[0].Missing)
}

func TestUnreadableSkillsAreListedWithTheReason(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "SKILL.md", "---\ndescription: secret\n---\nsecret")
	write(t, dir, "skills/inside/SKILL.md", "---\ndescription: fine\n---\ntext")
	link := func(target, name string) {
		t.Helper()
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		require.NoError(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	link(outside, "skills/folder")
	link(filepath.Join(outside, "SKILL.md"), "skills/file/SKILL.md")
	link("../inside/SKILL.md", "skills/linked/SKILL.md")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "skills/pipe"), 0o755))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "skills/pipe/SKILL.md"), 0o644))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "skills/strange/SKILL.md"), 0o755))

	skills := own(t, dir, nothing)
	names := make([]string, 0, len(skills))
	for _, s := range skills {
		names = append(names, s.Name)
		if s.Name == "inside" || s.Name == "linked" {
			require.Equal(t, "fine", s.Description)
			continue
		}
		require.False(t, s.Available)
		require.True(t, strings.HasPrefix(s.Description, "(cannot be used: "), s.Description)
	}
	require.Equal(t, []string{"file", "folder", "inside", "linked", "pipe", "strange"}, names)
	require.NotContains(t, fmt.Sprint(skills), "secret")
}

func TestSkillsFolderOutsideIsNotFollowed(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	write(t, outside, "a/SKILL.md", "secret")
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "skills")))
	skills := own(t, dir, nothing)
	require.Len(t, skills, 1)
	require.False(t, skills[0].Available)
	require.Contains(t, skills[0].Description, "cannot be used")
}

func TestLargeAndBrokenTextsAreBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "skills/a/SKILL.md", "\uFEFF---\r\nname: a\xff\x00\r\ndescription: "+strings.Repeat("wörd ", 1000)+"\r\n---\r\nline\r\n\xfe\x00"+strings.Repeat("é", 64<<10))
	s := own(t, dir, nothing)[0]
	require.Equal(t, "a\uFFFD", s.Name)
	require.LessOrEqual(t, len(s.Description), 1024)
	require.True(t, strings.HasPrefix(s.Text, "line\n\uFFFDéé"), s.Text[:20])
	require.True(t, strings.HasSuffix(s.Text, "(cut: the first 64 KB of skills/a/SKILL.md)"))
	require.Less(t, len(s.Text), 65<<10)
}

func TestBuiltinSkills(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	skills, err := skill.Load(dir, nothing)
	require.NoError(t, err)
	missing := map[string][]string{}
	for _, s := range skills {
		require.True(t, s.Builtin)
		require.NotEqual(t, s.Name, s.Description)
		require.True(t, strings.HasPrefix(s.Text, "# "), s.Name)
		require.Less(t, len(s.Text), 4000, s.Name)
		require.Equal(t, s.Name == "memory", s.Always, s.Name)
		missing[s.Name] = s.Missing
	}
	require.Equal(t, map[string][]string{
		"memory": nil, "jobs": nil, "github": {"CLI: gh"}, "summarize": nil, "tmux": {"CLI: tmux"}, "weather": nil, "skill-creator": nil,
	}, missing)
}

func TestBuiltinSkillsCanBeReadByTheAgentsTools(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var tools tool.Registry
	made, err := toolfs.New(toolfs.Options{Workspace: dir, Restrict: true})
	require.NoError(t, err)
	require.NoError(t, tools.Register(made...))
	read, err := tools.Lookup(t.Context(), "read_file")
	require.NoError(t, err)
	skills, err := skill.Load(dir, nothing)
	require.NoError(t, err)
	for _, s := range skills {
		arguments, err := json.Marshal(map[string]string{"path": s.Location})
		require.NoError(t, err)
		result, err := read.Run(t.Context(), tool.Call{Arguments: arguments})
		require.NoError(t, err)
		require.Contains(t, result.Text, s.Text)
		require.NotContains(t, result.Text, "continue with offset", "one call is enough")
	}
}

func TestFilesOfBuiltinSkillsAreRestored(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	skills, err := skill.Load(dir, nothing)
	require.NoError(t, err)
	first := skills[0].Location
	want, err := os.ReadFile(first)
	require.NoError(t, err)
	for name, spoil := range map[string]func() error{
		"changed":     func() error { return os.WriteFile(first, []byte("changed"), 0o644) },
		"same size":   func() error { return os.WriteFile(first, []byte(strings.Repeat("x", len(want))), 0o644) },
		"removed":     func() error { return os.RemoveAll(filepath.Join(dir, ".holdfast")) },
		"made a link": func() error { return errors.Join(os.Remove(first), os.Symlink("elsewhere", first)) },
	} {
		require.NoError(t, spoil(), name)
		var loading sync.WaitGroup
		for range 8 {
			loading.Go(func() {
				if _, err := skill.Load(dir, nothing); err != nil {
					t.Error(err)
				}
			})
		}
		loading.Wait()
		got, err := os.ReadFile(first)
		require.NoError(t, err, name)
		require.Equal(t, string(want), string(got), name)
	}
	entries, err := os.ReadDir(filepath.Dir(first))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing is left behind")
}

func TestUnwritableBuiltinSkillsAreListedWithTheReason(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, ".holdfast", "in the way")
	skills, err := skill.Load(dir, nothing)
	require.NoError(t, err)
	require.Len(t, skills, 7)
	for _, s := range skills {
		require.False(t, s.Available)
		require.Contains(t, s.Description, "(cannot be used: write it: ")
	}
}

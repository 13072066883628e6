package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// located finds where a prompt says that a skill is.
var located = regexp.MustCompile(`<name>weather</name>\s*<description>[^<]*</description>\s*<location>([^<]*)</location>`)

func TestSkills(t *testing.T) {
	t.Parallel()

	t.Run("one that is added to the workspace is available for the next message", func(t *testing.T) {
		t.Parallel()
		model := echo(t)
		n := startNode(t, model.URL)
		system := func(text string) string {
			n.ask(t, "main", text)
			return model.Requests()[model.Count()-1].Messages[0].Content.Text
		}
		drop := func(name, content string) {
			path := filepath.Join(n.cfg.Workspace, "skills", name, "SKILL.md")
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		}
		before := system("hello")
		require.Contains(t, before, "\n\n---\n\n# Active Skills\n\n## Skill: memory\n\n")
		require.Contains(t, before, "\n\n---\n\n# Skills\n\n<skills>\n")

		drop("tea", "---\nname: tea\ndescription: Makes tea.\nalways: true\n---\nSteep it for four minutes.\n")
		drop("coffee", "---\nname: coffee\ndescription: Makes coffee.\nmetadata: {\"nanobot\":{\"always\":true,\"requires\":{\"bins\":[\"no-such-grinder\"],\"env\":[\"NO_SUCH_BEANS\"]}}}\n---\nGrind it first.\n")
		after := system("and now?")
		require.Contains(t, after, "\n\n---\n\n# Active Skills\n\n## Skill: tea\n\nSteep it for four minutes.\n\n## Skill: memory\n\n")
		require.Contains(t, after, "<skill available=\"true\"><name>tea</name>")
		require.Contains(t, after, "<skill available=\"false\"><name>coffee</name><description>Makes coffee.</description>")
		require.Contains(t, after, "<requires>CLI: no-such-grinder, ENV: NO_SUCH_BEANS</requires>")
		require.NotContains(t, after, "Grind it first.")
		require.NotContains(t, after, "always: true")

		drop("coffee", "---\nname: coffee\ndescription: Makes coffee.\nholdfast: {always: true, requires: {bins: [sh]}}\n---\nGrind it first.\n")
		require.NoError(t, os.RemoveAll(filepath.Join(n.cfg.Workspace, "skills", "tea")))
		last := system("and again?")
		require.Contains(t, last, "# Active Skills\n\n## Skill: coffee\n\nGrind it first.")
		require.NotContains(t, last, "Steep it")
	})

	t.Run("a built-in one is read from where the prompt says, though tools stay in the workspace", func(t *testing.T) {
		t.Parallel()
		model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			if len(r.Results()) > 0 {
				return llmtest.Text("read")
			}
			found := located.FindStringSubmatch(r.Messages[0].Content.Text)
			if found == nil {
				return llmtest.Text("not in the prompt")
			}
			arguments, err := json.Marshal(map[string]string{"path": found[1]})
			require.NoError(t, err)
			return llmtest.Calls(llmtest.Call{ID: "r", Name: "read_file", Arguments: string(arguments)})
		})
		n := startNode(t, model.URL)
		require.True(t, n.cfg.Tools.RestrictToWorkspace)
		require.Equal(t, "read", n.ask(t, "main", "will it rain?").Text)
		builtin, err := os.ReadFile("../skill/builtin/weather/SKILL.md")
		require.NoError(t, err)
		body := string(builtin[strings.LastIndex(string(builtin), "---\n")+4:])
		for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
			require.Contains(t, model.Requests()[1].Results()[0], line)
		}
	})
}

package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

func TestExport(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long <output>\n", 2000)
	arguments, err := json.Marshal(map[string]string{"command": "for i in $(seq 2000); do echo 'long <output>'; done"})
	require.NoError(t, err)
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if strings.HasPrefix(r.LastUser(), "run it") && r.Messages[len(r.Messages)-1].Role == "user" {
			return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: string(arguments)})
		}
		return llmtest.Text("done")
	})
	n := startNode(t, model.URL)
	n.ask(t, "main", "old question")
	n.ask(t, "main", "/new")
	n.ask(t, "main", "run it & tell <me>")
	n.ask(t, "main", "and again")
	environ := []string{"HOLDFAST_HOME=" + n.cfg.Home}
	export := func(t *testing.T, environ []string, key string) (lines []string) {
		out, err := runCommand(t, environ, "sessions", "export", key)
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(out), "\n")
	}
	lines := export(t, environ, "http:main")

	t.Run("can be read by nanobot", func(t *testing.T) {
		require.Len(t, lines, 1+2+4+2)
		var head map[string]any
		require.NoError(t, json.Unmarshal([]byte(lines[0]), &head))
		require.Equal(t, "metadata", head["_type"])
		require.Equal(t, "http:main", head["key"])
		require.EqualValues(t, 2, head["last_consolidated"], "what came before /new")
		for _, key := range []string{"created_at", "updated_at"} {
			_, err := time.Parse("2006-01-02T15:04:05.000000-07:00", head[key].(string))
			require.NoError(t, err)
		}
		require.NotNil(t, head["metadata"])
		for _, line := range lines[1:] {
			var message struct{ Timestamp string }
			require.NoError(t, json.Unmarshal([]byte(line), &message))
			_, err := time.Parse("2006-01-02T15:04:05.000000-07:00", message.Timestamp)
			require.NoError(t, err, line)
		}
		require.Contains(t, lines[3], `"content":"run it & tell <me>"`)
		require.Contains(t, lines[4], `"content":null,"tool_calls":[{"id":"call_`)
		require.Contains(t, lines[4], `"type":"function","function":{"name":"exec","arguments":"{\"command\":`)
		var result struct{ Role, Content, Name string }
		require.NoError(t, json.Unmarshal([]byte(lines[5]), &result))
		require.Equal(t, "tool", result.Role)
		require.Equal(t, "exec", result.Name)
		require.GreaterOrEqual(t, strings.Count(result.Content, "long <output>"), 2000, "all of it")
		require.Contains(t, result.Content, long)
	})

	t.Run("comes back as it was", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "any.jsonl")
		_, err := runCommand(t, environ, "sessions", "export", "http:main", "-o", file)
		require.NoError(t, err)
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		other := []string{"HOLDFAST_HOME=" + t.TempDir()}
		out, err := runCommand(t, other, "sessions", "import", file)
		require.NoError(t, err)
		require.Contains(t, out, "http:main: 3 turns added")
		again := export(t, other, "http:main")
		require.Equal(t, lines[1:], again[1:])
		require.Contains(t, again[0], `"last_consolidated":2`)

		out, err = runCommand(t, other, "sessions", "import", file, "--key", "http:copy")
		require.NoError(t, err)
		require.Contains(t, out, "http:copy: 3 turns added")
		turn := regexp.MustCompile(`,"turn":"[^"]*"`)
		copied := strings.Join(export(t, other, "http:copy")[1:], "\n")
		require.Equal(t, turn.ReplaceAllString(strings.Join(lines[1:], "\n"), ""), turn.ReplaceAllString(copied, ""))
	})

	t.Run("is recognized by its own session", func(t *testing.T) {
		file := written(t, "own.jsonl", strings.Join(lines, "\n"))
		out, err := runCommand(t, environ, "sessions", "import", file)
		require.NoError(t, err)
		require.Contains(t, out, "http:main: 0 turns added, 3 already there")
	})

	t.Run("leaves the file alone if it fails", func(t *testing.T) {
		file := written(t, "kept.jsonl", "kept")
		_, err := runCommand(t, environ, "sessions", "export", "http:nobody", "-o", file)
		require.ErrorContains(t, err, "session http:nobody not found")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, "kept", string(text))
		files, err := os.ReadDir(filepath.Dir(file))
		require.NoError(t, err)
		require.Len(t, files, 1)
	})
}

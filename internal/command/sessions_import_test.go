package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/transcript"
)

const quirky = "testdata/telegram_12345.jsonl"

// openHome opens the store of a home.
func openHome(t *testing.T, home string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{DSN: config.Default(home).StoreDSN()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// written makes a file and returns its path.
func written(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, name, text)
	return filepath.Join(dir, name)
}

// spoken are messages without what an import gives them by itself.
func spoken(messages []domain.Message) []string {
	var all []string
	for _, m := range messages {
		var calls strings.Builder
		for _, call := range m.ToolCalls {
			fmt.Fprintf(&calls, " → %s%s", call.Name, call.Arguments)
		}
		all = append(all, fmt.Sprintf("%d.%d %s: %s%s", m.Step, m.Index, m.Role, m.Content, calls.String()))
	}
	return all
}

func TestAnImportedFileOfNanobots(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environ := []string{"HOLDFAST_HOME=" + home}
	out, err := runAsking(t, environ, "", "sessions", "import", quirky)
	require.NoError(t, err)
	require.Contains(t, out, "telegram:12345: 4 turns added, 0 already there")
	require.Contains(t, out, "line 10 skipped: result of an unknown call")
	require.Contains(t, out, "line 16 skipped: system prompts are not imported")
	require.Contains(t, out, "line 18 skipped: not a JSON")
	require.Equal(t, 3, strings.Count(out, "skipped"))

	stored := openHome(t, home)
	rows, err := stored.Transcript(t.Context(), "telegram:12345", -1, 0)
	require.NoError(t, err)
	require.Equal(t, []string{
		"1.0 user: Hello",
		"1.0 assistant: Hi there!\n\nGood morning, your reminder!",
		"1.0 user: What is in my workspace?\n[Attached: /home/ana/pic.png]",
		`1.0 assistant:  → list_dir{"path": "."} → exec{"command": "pwd"}`,
		"1.0 tool: AGENTS.md",
		"1.1 tool: /home/ana",
		"2.0 assistant: One file: AGENTS.md",
		"1.0 user: [image]\nAnd what is this?",
		`1.0 assistant:  → mcp_see_{"_raw":"{not json"}`,
		"1.0 tool: " + transcript.NoResult,
		"1.0 user: Are you there?",
	}, spoken(rows))
	for _, m := range rows {
		for i, call := range m.ToolCalls {
			require.Regexp(t, `^[a-zA-Z0-9_-]{1,64}$`, call.ID)
			result, found, err := stored.Result(t.Context(), m.Turn, m.Step, i)
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, call.ID, result.CallID)
		}
	}
	at := func(text string) time.Time {
		local, err := time.ParseInLocation("15:04:05", text, time.Local)
		require.NoError(t, err)
		return local.AddDate(2026, 1, 2).UTC()
	}
	require.Equal(t, at("10:00:01.5"), rows[1].CreatedAt, "a time without a zone is of this machine's")
	require.Equal(t, at("10:01:03"), rows[4].CreatedAt)
	require.Equal(t, time.Date(2026, 2, 3, 10, 2, 0, 0, time.UTC), rows[7].CreatedAt)
	require.False(t, rows[6].CreatedAt.IsZero())

	session, err := stored.Session(t.Context(), "telegram:12345")
	require.NoError(t, err)
	require.Equal(t, at("09:59:00"), session.CreatedAt, "the last line of metadata counts, as with nanobot")
	exported, err := stored.Export(t.Context(), "telegram:12345")
	require.NoError(t, err)
	var past []bool
	for _, turn := range exported.Turns {
		past = append(past, turn.Past)
	}
	require.Equal(t, []bool{true, false, false, false}, past)

	t.Run("is imported once", func(t *testing.T) {
		out, err := runCommand(t, environ, "sessions", "import", quirky)
		require.NoError(t, err)
		require.Contains(t, out, "0 turns added, 4 already there")
		again, err := stored.Transcript(t.Context(), "telegram:12345", -1, 0)
		require.NoError(t, err)
		require.Equal(t, rows, again)
	})

	t.Run("does not interleave with other turns", func(t *testing.T) {
		other := written(t, "telegram_12345.jsonl", `{"role": "user", "content": "other"}`)
		_, err := runCommand(t, environ, "sessions", "import", other)
		require.ErrorContains(t, err, "session telegram:12345 already has other turns; use --append")
		out, err := runCommand(t, environ, "sessions", "import", other, "--append")
		require.NoError(t, err)
		require.Contains(t, out, "1 turn added")
		out, err = runCommand(t, environ, "sessions", "import", quirky)
		require.NoError(t, err)
		require.Contains(t, out, "0 turns added")
		out, err = runCommand(t, environ, "sessions", "import", other, "--key", "http:main")
		require.NoError(t, err)
		require.Contains(t, out, "http:main: 1 turn added")
	})
}

func TestAnImportThatGrew(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	environ := []string{"HOLDFAST_HOME=" + home}
	turn := func(n int) string {
		return fmt.Sprintf("{\"role\":\"user\",\"content\":\"q\",\"timestamp\":\"2026-02-03T10:0%d:00\"}\n{\"role\":\"assistant\",\"content\":\"a\"}\n", n)
	}
	path := written(t, "cli_direct.jsonl", turn(1)+turn(2))
	out, err := runCommand(t, environ, "sessions", "import", path)
	require.NoError(t, err)
	require.Contains(t, out, "cli:direct: 2 turns added, 0 already there")
	require.NoError(t, os.WriteFile(path, []byte(turn(1)+turn(2)+turn(2)), 0o600))
	out, err = runCommand(t, environ, "sessions", "import", path)
	require.NoError(t, err)
	require.Contains(t, out, "1 turn added, 2 already there")
}

func TestImportSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	environ := []string{"HOLDFAST_HOME=" + filepath.Join(dir, "home")}
	said := `{"role": "user", "content": "x"}`
	tests := []struct {
		name, file, text, key, want string
	}{
		{"no file", "absent.jsonl", "", "", "no such file"},
		{"an empty file", "telegram_1.jsonl", "\n\n", "", "not a session file"},
		{"another file", "telegram_2.jsonl", "hello\nyou", "", "not a session file"},
		{"a file without a session's name", "notes.jsonl", said, "", "name it with --key"},
		{"a key without a chat", "telegram_3.jsonl", said, "telegram", "name it with --key"},
		{"a subagent's key", "telegram_4.jsonl", said, "subagent:m1.1.0", "name it with --key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), tt.file)
			if tt.text != "" {
				require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
			}
			args := []string{"sessions", "import", path}
			if tt.key != "" {
				args = append(args, "--key", tt.key)
			}
			_, err := runCommand(t, environ, args...)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

func TestAnImportedConversationContinues(t *testing.T) {
	t.Parallel()
	requests := make(chan llmtest.Request, 2)
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		requests <- r
		return llmtest.Text("welcome back")
	})
	n := startNode(t, model.URL)
	environ := []string{"HOLDFAST_HOME=" + n.cfg.Home}
	out, err := runCommand(t, environ, "sessions", "import", quirky, "--key", "http:main")
	require.NoError(t, err)
	require.Contains(t, out, "http:main: 4 turns added")
	require.Equal(t, "welcome back", n.ask(t, "main", "it is me").Text)

	request := <-requests
	require.Empty(t, request.Invalid, "to a strict provider")
	var said []string
	for _, m := range request.Messages {
		if m.Role == "user" {
			said = append(said, strings.SplitN(m.Content.Text, "\n", 2)[0])
		}
	}
	require.Equal(t, []string{"What is in my workspace?", "[image]", "Are you there?", "it is me"}, said, "but what memory took in")

	out, err = runCommand(t, environ, "sessions", "show", "http:main", "--turn", "5", "--prompt", "--full", "--json")
	require.NoError(t, err)
	var given turnPrompt
	require.NoError(t, json.Unmarshal([]byte(out), &given))
	require.Equal(t, request.Messages[0].Content.Text, given.Prompt)
	require.Len(t, given.Messages, len(request.Messages))
	for i, m := range request.Messages {
		require.Equal(t, m.Content.Text, given.Messages[i].Content)
	}
}

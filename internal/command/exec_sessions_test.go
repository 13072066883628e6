package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/removal"
)

// obedient is a model that makes the tool call in the last message, NAME
// ARGUMENTS on one line, and answers with its result.
func obedient(t *testing.T) *llmtest.Server {
	t.Helper()
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if results := r.Results(); len(results) > 0 {
			return llmtest.Text(results[0])
		}
		line, _, _ := strings.Cut(r.LastUser(), "\n")
		name, arguments, _ := strings.Cut(line, " ")
		if !json.Valid([]byte(arguments)) {
			return llmtest.Text("I do not understand.")
		}
		return llmtest.Calls(llmtest.Call{Name: name, Arguments: arguments})
	})
}

// commandFiles returns the content of all command files.
func (n *testNode) commandFiles(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(filepath.Join(n.cfg.DataDir(), "commands"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	}))
	return all.String()
}

func TestExecSessionsOfARemovedConversation(t *testing.T) {
	t.Parallel()
	n := startNode(t, obedient(t).URL)
	environ := []string{"HOLDFAST_HOME=" + n.cfg.Home}
	started := n.ask(t, "main", `exec_start {"command": "echo from-a-session; exec sleep 601"}`).Text
	require.Contains(t, started, "is running")
	name := strings.Fields(started[strings.Index(started, "[session "):])[1]
	n.ask(t, "main", `exec {"command": "echo from-a-command"}`)
	n.ask(t, "other", `exec {"command": "echo of-another"}`)
	require.Contains(t, n.ask(t, "main", "/status").Text, "started ")

	_, err := runCommand(t, environ, "sessions", "rm", "http:main", "--yes")
	require.EqualError(t, err, "the session is busy: a command is running: echo from-a-session; exec sleep 601; "+
		"stop it with --stop, or with /stop in the conversation")
	require.Contains(t, n.commandFiles(t), "from-a-command", "nothing was removed")
	require.Equal(t, "Stopped.", n.ask(t, "main", "/stop").Text)
	require.Equal(t, "Nothing is running.", n.ask(t, "main", "/status").Text)

	_, err = runCommand(t, environ, "sessions", "rm", "http:main", "--yes")
	require.NoError(t, err)
	kept := n.commandFiles(t)
	require.NotContains(t, kept, "from-a-session")
	require.NotContains(t, kept, "from-a-command")
	require.Contains(t, kept, "of-another")
	require.Equal(t, "no sessions", n.ask(t, "main", `exec_read {}`).Text)
	require.Contains(t, n.ask(t, "main", `exec_read {"session": "`+name+`", "offset": 1}`).Text, "this conversation has no session")
}

func TestRemoveEndsCommandsIfAsked(t *testing.T) {
	t.Parallel()
	n := startNode(t, obedient(t).URL)
	environ := []string{"HOLDFAST_HOME=" + n.cfg.Home}
	alive := filepath.Join(n.cfg.Workspace, "alive")
	n.ask(t, "main", `exec_start {"command": "while true; do echo >>`+alive+`; sleep 0.02; done"}`)
	n.ask(t, "other", `exec_start {"command": "exec sleep 602"}`)

	out, err := runCommand(t, environ, "sessions", "rm", "http:main", "--yes", "--stop")
	require.NoError(t, err)
	require.Contains(t, out, "removed http:main: 1 turn")
	size := func() int64 {
		info, err := os.Stat(alive)
		require.NoError(t, err)
		return info.Size()
	}
	before := size()
	require.Never(t, func() bool { return size() != before }, 300*time.Millisecond, 50*time.Millisecond)
	require.Contains(t, n.ask(t, "other", "/status").Text, "sleep 602")
	n.ask(t, "other", "/stop")
}

func TestRetentionKeepsConversationsWithCommandsThatRun(t *testing.T) {
	t.Parallel()
	n := startNode(t, obedient(t).URL)
	n.ask(t, "main", `exec_start {"command": "exec sleep 603"}`)
	n.ask(t, "other", `exec {"command": "echo of-another"}`)
	r := removal.Remover{Store: n.store, Workspace: n.cfg.Workspace, Commands: n.Commands}

	removed, err := r.RemoveUnused(t.Context(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, removed)
	require.NotContains(t, n.commandFiles(t), "of-another")

	require.Equal(t, "New conversation.", n.ask(t, "main", "/new").Text)
	require.Eventually(t, func() bool { // it may have to be consolidated first
		_, err := r.RemoveUnused(t.Context(), time.Now().Add(time.Hour))
		require.NoError(t, err)
		return !strings.Contains(n.commandFiles(t), "sleep 603")
	}, patience, 50*time.Millisecond)
}

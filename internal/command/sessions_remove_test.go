package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/removal"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	arguments, err := json.Marshal(map[string]string{"command": "for i in $(seq 3000); do echo long output; done"})
	require.NoError(t, err)
	model := llmtest.NewServer(t,
		llmtest.Calls(llmtest.Call{Name: "exec", Arguments: string(arguments)}), llmtest.Text("done"),
		llmtest.Text("other"), llmtest.Text("anew"))
	n := startNode(t, model.URL)
	id := n.send(t, "main", "once", "run it")
	n.await(t, id)
	n.ask(t, "other", "hello")
	turns, err := n.store.Turns(t.Context(), "http:main", 1)
	require.NoError(t, err)
	media := filepath.Join(n.cfg.Workspace, "media", turns[0].ID)
	require.NoError(t, os.MkdirAll(media, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(media, "a.png"), []byte("png"), 0o600))
	results, err := filepath.Glob(filepath.Join(n.cfg.Workspace, "results", "*.txt"))
	require.NoError(t, err)
	require.Len(t, results, 1)
	environ := []string{"HOLDFAST_HOME=" + n.cfg.Home}

	t.Run("of missing runs", func(t *testing.T) {
		_, err := runCommand(t, environ, "sessions", "rm", "http:nobody", "--yes")
		require.ErrorContains(t, err, "session http:nobody not found")
		_, err = runCommand(t, []string{"HOLDFAST_HOME=" + t.TempDir()}, "sessions", "rm", "http:main", "--yes")
		require.ErrorContains(t, err, "session http:main not found")
	})

	t.Run("asks first", func(t *testing.T) {
		out, err := runAsking(t, environ, "no\n", "sessions", "rm", "http:main")
		require.ErrorContains(t, err, "nothing was removed")
		require.Contains(t, out, "remove http:main with 1 turn and 4 messages")
		require.DirExists(t, media)
	})

	t.Run("removes everything except the work of others", func(t *testing.T) {
		out, err := runAsking(t, environ, "yes\n", "sessions", "rm", "http:main")
		require.NoError(t, err)
		require.Contains(t, out, "removed http:main: 1 turn")
		require.NoDirExists(t, media)
		require.NoFileExists(t, results[0])
		out, err = runCommand(t, environ, "sessions", "list")
		require.NoError(t, err)
		require.NotContains(t, out, "http:main")
		require.Contains(t, out, "http:other")
	})

	t.Run("and the session starts over, except for answered messages", func(t *testing.T) {
		receipt, err := n.api.Send(t.Context(), "main", "once", "run it")
		require.NoError(t, err)
		require.Equal(t, id, receipt.ID)
		require.Empty(t, n.await(t, id).Text)
		require.Equal(t, "anew", n.ask(t, "main", "hello").Text)
	})
}

// runAsking is [runCommand] with a person at the keyboard.
func runAsking(t *testing.T, environ []string, answer string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := rootCommand(environ)
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetIn(strings.NewReader(answer))
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

func TestRemoveOfASessionAtWork(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	stored := openHome(t, home)
	environ := []string{"HOLDFAST_HOME=" + home}
	_, _, err := stored.Accept(t.Context(), domain.Inbound{ID: "m1", Session: "http:main", Channel: "http", Chat: "main", Text: "hi"})
	require.NoError(t, err)
	_, err = runCommand(t, environ, "sessions", "rm", "http:main", "--yes")
	require.ErrorContains(t, err, "a message is waiting for its turn")
	_, err = stored.Begin(t.Context(), store.BeginInput{Session: "http:main", Channel: "http", Turn: "m1", Step: 1, Messages: []string{"m1"}})
	require.NoError(t, err)
	_, err = runCommand(t, environ, "sessions", "rm", "http:main", "--yes")
	require.ErrorContains(t, err, "a turn is running")
}

func TestRetention(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	stored := openHome(t, home)
	for _, key := range []string{"a:1", "a:2", "a:3"} {
		_, err := stored.Import(t.Context(), store.Import{
			Session: key, Route: domain.Route{Channel: "a", Chat: key},
			Turns: []store.ImportTurn{{ID: key, Messages: []domain.Message{{Step: 1, Role: "user", Content: "x"}}}},
		})
		require.NoError(t, err)
	}
	_, _, err := stored.Accept(t.Context(), domain.Inbound{ID: "m1", Session: "a:2", Channel: "a", Chat: "2", Text: "hi"})
	require.NoError(t, err)
	left := func() (keys []string) {
		sessions, err := stored.Sessions(t.Context(), 10)
		require.NoError(t, err)
		for _, s := range sessions {
			keys = append(keys, s.Key)
		}
		return keys
	}
	commands, err := node.OpenCommands(config.Default(home), nil)
	require.NoError(t, err)
	r := removal.Remover{Store: stored, Workspace: home, Commands: commands}
	removed, err := r.RemoveUnused(t.Context(), time.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.Zero(t, removed)
	require.Len(t, left(), 3)
	removed, err = r.RemoveUnused(t.Context(), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 2, removed)
	require.Equal(t, []string{"a:2"}, left(), "it has work to do")
}

func TestRetentionOfANode(t *testing.T) {
	t.Parallel()
	model := echo(t)
	n := startNode(t, model.URL, func(cfg *config.Config, _ *node.Roles) {
		cfg.Store.Retention = time.Microsecond
		stored := openHome(t, cfg.Home)
		_, err := stored.Import(t.Context(), store.Import{
			Session: "a:1", Route: domain.Route{Channel: "a", Chat: "1"},
			Turns: []store.ImportTurn{{ID: "mi", Messages: []domain.Message{{Step: 1, Role: "user", Content: "x"}}}},
		})
		require.NoError(t, err)
	})
	require.Eventually(t, func() bool {
		_, err := n.store.Session(t.Context(), "a:1")
		return err != nil
	}, patience, 10*time.Millisecond)
	require.Equal(t, domain.ReplyDone, n.ask(t, "main", "hello").Status)
}

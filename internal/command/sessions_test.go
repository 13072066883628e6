package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
)

func TestSessionsOfAHomeWithoutAStore(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	environ := []string{"HOLDFAST_HOME=" + dir}
	out, err := runCommand(t, environ, "sessions", "list")
	require.NoError(t, err)
	require.Contains(t, out, "no sessions yet")
	out, err = runCommand(t, environ, "sessions", "list", "--json")
	require.NoError(t, err)
	require.JSONEq(t, "[]", out)
	_, err = runCommand(t, environ, "sessions", "show", "http:main")
	require.ErrorContains(t, err, "session http:main not found")
	require.NoDirExists(t, dir)
}

func TestSessions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long output\n", 100)
	arguments, err := json.Marshal(map[string]string{"command": "printf '\x1b[31m" + long + "'"})
	require.NoError(t, err)
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		switch r.Number {
		case 1:
			return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: string(arguments)})
		case 2:
			return llmtest.Text("all done").Usage(30, 12)
		case 3:
			return llmtest.Text("second").Usage(1, 2)
		default: // asked by the user, or what to remember of before the fresh start
			return llmtest.Text("fresh").Usage(1, 2)
		}
	})
	n := startNode(t, model.URL)
	n.ask(t, "main", "run it")
	n.ask(t, "main", "and again")
	n.ask(t, "other", "/help")
	environ := []string{"HOLDFAST_HOME=" + n.cfg.Home}
	show := func(t *testing.T, args ...string) string {
		out, err := runCommand(t, environ, append([]string{"sessions", "show", "http:main"}, args...)...)
		require.NoError(t, err)
		return out
	}

	t.Run("are listed, the last used first, beside a running agent", func(t *testing.T) {
		out, err := runCommand(t, environ, "sessions", "list")
		require.NoError(t, err)
		lines := strings.Split(out, "\n")
		require.Equal(t, []string{"SESSION", "TURNS", "MESSAGES", "TOKENS", "COST", "LAST", "USED", "RUNNING"}, strings.Fields(lines[0]))
		require.Equal(t, "http:other", strings.Fields(lines[1])[0])
		fields := strings.Fields(lines[2])
		require.Equal(t, []string{"http:main", "2", "6"}, fields[:3])
		require.Equal(t, "no", fields[len(fields)-1])
	})

	t.Run("are listed as JSON", func(t *testing.T) {
		out, err := runCommand(t, environ, "sessions", "list", "--json", "--limit", "1")
		require.NoError(t, err)
		var rows []domain.Session
		require.NoError(t, json.Unmarshal([]byte(out), &rows))
		require.Len(t, rows, 1)
		require.Equal(t, "http:other", rows[0].Key)
		require.False(t, rows[0].Running)
	})

	t.Run("are shown as a transcript with long results shortened", func(t *testing.T) {
		out := show(t)
		for _, want := range []string{"session/http:main", "user ", "    run it\n", "→ exec {", "result exec", "all done", "done, 2 steps", "second"} {
			require.Contains(t, out, want)
		}
		require.Less(t, strings.Count(out, "long output"), 50)
		require.NotContains(t, out, "\x1b", "a terminal would obey it")
		require.NotContains(t, out, "UI  ", "none runs")
	})

	t.Run("are shown in full", func(t *testing.T) {
		out := show(t, "--full")
		require.GreaterOrEqual(t, strings.Count(out, "long output"), 200, "the arguments and the result")
		require.NotContains(t, out, "\x1b")
	})

	t.Run("are shown from a message on, with its turn", func(t *testing.T) {
		out := show(t, "--limit", "2")
		require.Contains(t, out, "and again")
		require.NotContains(t, out, "run it")
		require.Equal(t, 1, strings.Count(out, "── turn"))
	})

	t.Run("are shown as JSON with a link into the UI that runs", func(t *testing.T) {
		ui := listening(t)
		require.NoError(t, node.WriteRun(n.cfg.DataDir(), n.note(ui)))
		defer os.Remove(node.RunFile(n.cfg.DataDir()))
		var d sessionDetail
		require.NoError(t, json.Unmarshal([]byte(show(t, "--json")), &d))
		require.Len(t, d.TurnRows, 2)
		require.Len(t, d.Rows, 6)
		require.Equal(t, domain.TurnDone, d.TurnRows[0].Status)
		require.Equal(t, "exec", d.Rows[1].ToolCalls[0].Name)
		require.Equal(t, ui+"/namespaces/default/workflows/session%2Fhttp:main/"+d.TurnRows[1].RunID+"/history", d.UI)
	})

	t.Run("show what came before a fresh start too", func(t *testing.T) {
		n.ask(t, "main", "/new")
		n.ask(t, "main", "hello")
		out := show(t)
		require.Contains(t, out, "fresh")
		require.NotContains(t, out, "run it")
		require.Contains(t, out, "--epoch shows earlier ones")
		out = show(t, "--epoch", "0")
		require.Contains(t, out, "run it")
		require.NotContains(t, out, "fresh")
		require.Contains(t, out, "user http\n    /new\n", "who gave which command")
		require.Contains(t, out, "reply\n    New conversation.\n")
		_, err := runCommand(t, environ, "sessions", "show", "http:main", "--epoch", "7")
		require.EqualError(t, err, "epoch 7 of http:main not found: the last one is 1")
	})

	t.Run("are an error if unknown", func(t *testing.T) {
		_, err := runCommand(t, environ, "sessions", "show", "http:nobody")
		require.ErrorContains(t, err, "session http:nobody not found")
	})
}

func TestSessionsWhoseFirstMessageWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stored, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(dir, "data", "store.db")})
	require.NoError(t, err)
	_, _, err = stored.Accept(t.Context(), domain.Inbound{ID: "m1", Session: "http:main", Channel: "http", Chat: "main", Text: "hi"})
	require.NoError(t, err)
	require.NoError(t, stored.Close())
	environ := []string{"HOLDFAST_HOME=" + dir}
	out, err := runCommand(t, environ, "sessions", "list")
	require.NoError(t, err)
	require.Regexp(t, `http:main +0 +0 +0 +\$0 +- +yes`, out)
	out, err = runCommand(t, environ, "sessions", "show", "http:main")
	require.NoError(t, err)
	require.Contains(t, out, ", running")
}

func TestSessionsShowRatings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	stored, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(dir, "data", "store.db")})
	require.NoError(t, err)
	_, _, err = stored.Accept(t.Context(), domain.Inbound{ID: "m1", Session: "slack:T1/C1", Channel: "slack", Chat: "T1/C1", Text: "hi", Push: true})
	require.NoError(t, err)
	_, err = stored.Begin(t.Context(), store.BeginInput{Session: "slack:T1/C1", Channel: "slack", Turn: "m1", Step: 1, Messages: []string{"m1"}})
	require.NoError(t, err)
	_, _, err = stored.SaveCompletion(t.Context(), store.Completion{Turn: "m1", Step: 1, Message: domain.Message{Content: "hello"}, Final: true, Reply: "hello"})
	require.NoError(t, err)
	_, err = stored.Rate(t.Context(), domain.Rating{Turn: "m1", Channel: "slack", Chat: "T1/C1", Sender: "U1\x1b", At: time.Now()})
	require.NoError(t, err)
	require.NoError(t, stored.Close())
	environ := []string{"HOLDFAST_HOME=" + dir}
	out, err := runCommand(t, environ, "sessions", "show", "slack:T1/C1")
	require.NoError(t, err)
	require.Regexp(t, `hello\n.*  rated bad by U1\W*\n`, out)
	require.NotContains(t, out, "\x1b")
	out, err = runCommand(t, environ, "sessions", "show", "slack:T1/C1", "--json")
	require.NoError(t, err)
	var d sessionDetail
	require.NoError(t, json.Unmarshal([]byte(out), &d))
	require.Len(t, d.TurnRows[0].Ratings, 1)
	require.False(t, d.TurnRows[0].Ratings[0].Good)
}

func TestSessionsOfADamagedStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "data/store.db", strings.Repeat("junk", 2000))
	_, err := runCommand(t, []string{"HOLDFAST_HOME=" + dir}, "sessions", "list")
	require.ErrorContains(t, err, "store.db")
	require.ErrorContains(t, err, "move it away")
}

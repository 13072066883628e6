package command

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// note is what `holdfast up` would write of the node. Other commands look there.
func (n *testNode) note(ui string) node.RunInfo {
	return node.RunInfo{PID: os.Getpid(), StartedAt: time.Now(), API: n.APIURL(), UI: ui, Temporal: n.Engine.Address(), Version: build.Version}
}

func TestRunsWithoutAnEngine(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"show", "http:main"}, {"stop", "http:main"}} {
		t.Run(args[0]+" says how to start one", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			environ := []string{"HOLDFAST_HOME=" + dir}
			_, err := runCommand(t, environ, append([]string{"runs"}, args...)...)
			require.ErrorContains(t, err, "`holdfast up`")

			write(t, dir, "data/run.json", `{"pid": 1, "temporal": "127.0.0.1:1"}`)
			_, err = runCommand(t, environ, append([]string{"runs"}, args...)...)
			require.ErrorContains(t, err, "`holdfast up`")
			require.ErrorContains(t, err, "127.0.0.1:1")
		})
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	model := llmtest.NewServer(t,
		llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo from the shell"}`}), llmtest.Text("all done"),
		llmtest.Hang(), llmtest.Text("next"))
	n := startNode(t, model.URL)
	ui := listening(t)
	require.NoError(t, node.WriteRun(n.cfg.DataDir(), n.note(ui)))
	environ := []string{"HOLDFAST_HOME=" + n.cfg.Home}
	runs := func(t *testing.T, args ...string) string {
		t.Helper()
		out, err := runCommand(t, environ, append([]string{"runs"}, args...)...)
		require.NoError(t, err)
		return out
	}
	n.ask(t, "main", "run it")
	n.closedCost(t, "http:main")

	t.Run("a closed one is shown with its steps", func(t *testing.T) {
		for _, id := range []string{"http:main", "session/http:main"} {
			out := runs(t, "show", id)
			for _, want := range []string{
				"workflow  session/http:main\n", "status    completed\n", `"run it"`,
				ui + "/namespaces/default/workflows/session%2Fhttp:main/",
			} {
				require.Contains(t, out, want)
			}
			require.Regexp(t, `signal +message +run it`, out)
			require.Regexp(t, `Complete +scripted/model · step 1 +\d\S*s +→ exec`, out)
			require.Regexp(t, `CallTool +exec: .*from the shell`, out)
			require.Regexp(t, `Complete +scripted/model · step 2 +\d\S*s +all done`, out)
			require.NotContains(t, out, "pending")
		}
	})

	hanging := n.send(t, "hung", "", "wait for it")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, model.Await(ctx, 3))

	t.Run("a running one is shown with its activity", func(t *testing.T) {
		out := runs(t, "show", "http:hung")
		require.Contains(t, out, "status    running\n")
		require.Regexp(t, `now +scripted/model · step 1\n`, out)
		require.Regexp(t, `pending:\n +Complete +scripted/model · step 1 +attempt 1`, out)
	})

	t.Run("stop ends the turn, and the session goes on with the next", func(t *testing.T) {
		require.Equal(t, "stopped session/http:hung\n", runs(t, "stop", "http:hung"))
		require.Equal(t, "Stopped.", n.await(t, hanging).Text)
		require.Contains(t, runs(t, "show", "http:hung"), "stop requested")
		_, err := runCommand(t, environ, "runs", "stop", "http:hung")
		require.ErrorContains(t, err, "is not running: it has been canceled")
		require.Equal(t, "next", n.ask(t, "hung", "again").Text)
	})

	t.Run("a missing one is an error", func(t *testing.T) {
		for _, verb := range []string{"show", "stop"} {
			_, err := runCommand(t, environ, "runs", verb, "http:nobody")
			require.ErrorContains(t, err, "run http:nobody not found")
		}
	})
}

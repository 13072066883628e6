package command

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// asksFor matches a message that asks for a tool call.
var asksFor = regexp.MustCompile(`call (\w+) ({.*})`)

// newCaller starts a model that makes the tool call that it is asked for, and says what its
// result is.
func newCaller(t *testing.T) *llmtest.Server {
	t.Helper()
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		results := resultsOfTurn(r)
		if len(results) > 0 {
			return llmtest.Text(results[len(results)-1])
		}
		asked := asksFor.FindStringSubmatch(r.LastUser())
		return llmtest.Calls(llmtest.Call{Name: asked[1], Arguments: asked[2]})
	})
}

// TestCommandsHaveAPlace runs commands on two workers. What concerns a command reaches it,
// whichever worker is asked, and also while the workers are restarted one after the other.
func TestCommandsHaveAPlace(t *testing.T) {
	t.Parallel()
	model := newCaller(t)
	c := startCluster(t, model.URL)
	workers := []*member{c.add(t, "worker"), c.add(t, "worker")}
	starter := c.add(t, "starter")
	ask := func(session, text string) string { return starter.await(t, starter.send(t, session, text)).Text }

	const sessions = 4
	for i := range sessions {
		session := fmt.Sprint("s", i)
		started := ask(session, fmt.Sprintf(`call exec_start {"command":"echo $$ >%s.pid; echo hello; exec sleep 300","wait_seconds":0.2}`, session))
		require.Contains(t, started, "is running")
		for range 2 {
			require.Contains(t, ask(session, `call exec_read {}`), "is running", "a command was not found")
		}
		require.Contains(t, ask(session, "/status"), "sleep 300")
		require.Equal(t, "Stopped.", ask(session, "/stop"))
		pid, err := os.ReadFile(c.file(session + ".pid"))
		require.NoError(t, err)
		require.NoDirExists(t, "/proc/"+strings.TrimSpace(string(pid)), "the command still runs")
		require.Equal(t, "Nothing is running.", ask(session, "/status"))
	}

	var running []string
	for i := range sessions {
		running = append(running, starter.send(t, fmt.Sprint("e", i), fmt.Sprintf(`call exec {"command":"echo x >>e%d; sleep 4; echo finished","timeout":120}`, i)))
	}
	for i := range sessions {
		require.Eventually(t, func() bool { _, err := os.Stat(c.file(fmt.Sprint("e", i))); return err == nil }, patience, 10*time.Millisecond)
	}
	for _, w := range workers {
		w.terminate(t)
		w.restart(t)
	}
	for i, id := range running {
		require.Contains(t, starter.await(t, id).Text, "finished")
		effects, err := os.ReadFile(c.file(fmt.Sprint("e", i)))
		require.NoError(t, err)
		require.Equal(t, "x\n", string(effects))
	}
	require.Empty(t, model.Invalid())
}

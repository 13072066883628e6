package command

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// TestClusterStop stops one of two workers while it makes two model calls and runs a command.
// One call finishes in the drain time; the others go on elsewhere when a second signal ends it.
func TestClusterStop(t *testing.T) {
	t.Parallel()
	finish, hung := make(chan struct{}), make(chan time.Time, 10)
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		switch asked := r.LastUser(); {
		case strings.Contains(asked, "finish it"):
			return llmtest.Text("finished").After(finish)
		case strings.Contains(asked, "run it") && len(resultsOfTurn(r)) == 0:
			return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo ran >> effects.txt; until [ -e release ]; do sleep 0.05; done; echo built"}`})
		case strings.Contains(asked, "run it"):
			return llmtest.Text(resultsOfTurn(r)[0])
		}
		hung <- time.Now()
		if len(hung) == 1 {
			return llmtest.Hang()
		}
		return llmtest.Text("answered")
	})
	c := startCluster(t, model.URL)
	starter, first := c.add(t, "starter"), c.add(t, "worker", "HOLDFAST_WORKER_DRAIN=1m")
	finishing, hanging, running := starter.send(t, "a", "finish it"), starter.send(t, "b", "hang"), starter.send(t, "c", "run it")
	require.NoError(t, model.Await(t.Context(), 3))
	require.Eventually(t, func() bool {
		_, err := os.Stat(c.file("effects.txt"))
		return err == nil
	}, patience, 10*time.Millisecond)
	c.add(t, "worker", "HOLDFAST_HOME="+first.dir) // on the same machine: it finds the command

	first.signal(t, syscall.SIGTERM)
	<-time.After(500 * time.Millisecond)
	close(finish)
	require.Equal(t, "finished", starter.await(t, finishing).Text)
	require.Len(t, hung, 1, "the call goes on in the drain time")
	ended := time.Now()
	t.Logf("ended %v after the second signal", first.terminate(t).Round(time.Millisecond))
	require.Less(t, time.Since(ended), 2*time.Second)
	exited := time.Now()
	require.Equal(t, "answered", starter.await(t, hanging).Text)
	<-hung
	taken := (<-hung).Sub(exited)
	t.Logf("taken over %v after the end", taken.Round(time.Millisecond))
	require.Less(t, taken, 2*time.Second)

	require.NoError(t, os.WriteFile(c.file("release"), nil, 0o600))
	require.Contains(t, starter.await(t, running).Text, "built")
	effects, err := os.ReadFile(c.file("effects.txt"))
	require.NoError(t, err)
	require.Equal(t, "ran\n", string(effects))
	require.Equal(t, 5, model.Count(), "two for the command, two for the call that hung")
	require.Empty(t, model.Invalid())
}

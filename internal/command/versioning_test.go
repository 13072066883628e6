package command

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// TestWorkerVersioning rolls out a build of the worker in the middle of a turn, and back: the turn stays
// on its build, the next run uses the current one.
func TestWorkerVersioning(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		switch {
		case len(resultsOfTurn(r)) == 0:
			return llmtest.Calls(llmtest.Call{Name: "write_file", Arguments: `{"path":"note.txt","content":"hello"}`})
		case topic(r) == "hold":
			return llmtest.Text("held").After(held)
		default:
			return llmtest.Text("done")
		}
	})
	c := startCluster(t, model.URL)
	versioned := func(build string) []string {
		return []string{"HOLDFAST_WORKER_DEPLOYMENT=test", "HOLDFAST_WORKER_BUILD_ID=" + build}
	}
	starter := c.add(t, "starter")
	doctor := func() string {
		out, _ := runCommand(t, starter.environ, "doctor") // it has other findings, too
		return out
	}
	require.Contains(t, doctor(), "messages wait: no worker polls the task queue agent")
	one := c.add(t, "worker", versioned("one")...)
	require.Contains(t, doctor(), "messages wait: no build is current, but all workers have one (one)")
	rollout := func(build, previous string) {
		var out string
		require.Eventually(t, func() (ok bool) { // Temporal learns of a worker with its first poll
			var err error
			out, err = runCommand(t, one.environ, "rollout", build)
			return err == nil
		}, patience, 100*time.Millisecond)
		require.Equal(t, fmt.Sprintf("test: build %s is current, before it %s\n", build, previous), out)
	}
	rollout("one", "none")
	require.Contains(t, doctor(), "workers take messages")

	connected, err := client.Dial(client.Options{HostPort: c.engine.info.Temporal})
	require.NoError(t, err)
	t.Cleanup(connected.Close)
	builtBy := func(session string) string {
		id := protocol.Names{}.Session("http:" + session)
		described, err := connected.DescribeWorkflowExecution(context.Background(), id, "")
		require.NoError(t, err)
		return described.GetWorkflowExecutionInfo().GetVersioningInfo().GetDeploymentVersion().GetBuildId()
	}

	holding := starter.send(t, "held", "hold")
	require.NoError(t, model.Await(t.Context(), 2))
	c.add(t, "worker", versioned("two")...)
	rollout("two", "one")
	require.Equal(t, "done", starter.await(t, starter.send(t, "other", "go")).Text)
	require.Equal(t, "two", builtBy("other"))
	close(held)
	require.Equal(t, "held", starter.await(t, holding).Text)
	require.Equal(t, "one", builtBy("held"), "it was pinned")
	require.Equal(t, "done", starter.await(t, starter.send(t, "held", "go on")).Text)
	require.Equal(t, "two", builtBy("held"))

	rollout("one", "two")
	require.Equal(t, "done", starter.await(t, starter.send(t, "other", "go back")).Text)
	require.Equal(t, "one", builtBy("other"))
	require.Empty(t, model.Invalid())
}

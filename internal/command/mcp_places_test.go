package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// TestMCPServersHaveAPlace has two workers with an MCP server each that counts in its memory.
// The calls of a session meet the same process for as long as it lives, and a call outlives
// the freeze of its worker.
func TestMCPServersHaveAPlace(t *testing.T) {
	t.Parallel()
	folder, model := t.TempDir(), newCaller(t)
	c := startCluster(t, model.URL, func(h *home) {
		local := mcpOverStdio(t, folder)
		settings := fmt.Sprintf("tools: {mcp: {servers: {local: {command: %q, env: {%s: %q}}}}}\n", local.Command, mcpFolder, folder)
		require.NoError(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(settings), 0o600))
	})
	workers := []*member{c.add(t, "worker"), c.add(t, "worker")}
	starter := c.add(t, "starter")
	other := func(pid int) (*member, *member) { // the worker of that process, and the other one
		if workers[0].pid() == pid {
			return workers[0], workers[1]
		}
		require.Equal(t, workers[1].pid(), pid)
		return workers[1], workers[0]
	}
	count := func(session string) (pid, n int) {
		told := starter.await(t, starter.send(t, session, fmt.Sprintf(`call mcp_local_count {"text":%q}`, session))).Text
		_, err := fmt.Sscanf(told, "%d counts %d", &pid, &n)
		require.NoError(t, err, told)
		return pid, n
	}

	at := map[string]int{}
	for n := range 4 {
		for _, session := range []string{"a", "b", "c", "d"} {
			pid, counted := count(session)
			if n == 0 {
				at[session] = pid
			}
			require.Equal(t, n+1, counted, "another process counted")
			require.Equal(t, at[session], pid)
		}
	}

	// A call begins when its worker is killed: what came of it is asked at its place.
	killed, stays := other(at["a"])
	calling := starter.send(t, "a", `call mcp_local_hang {}`)
	require.Eventually(t, func() bool { return hung(folder) != "" }, patience, 10*time.Millisecond)
	killed.kill()
	killed.restart(t)
	require.Contains(t, starter.await(t, calling).Text, "outcome unknown")
	pid, n := count("a")
	require.Equal(t, []int{killed.pid(), 1}, []int{pid, n})
	for session, before := range at {
		if before == stays.pid() {
			_, n := count(session)
			require.Equal(t, 5, n)
		}
	}

	// One that stops lets its sessions go elsewhere at once.
	stopped := time.Now()
	killed.terminate(t)
	pid, n = count("a")
	require.Equal(t, []int{stays.pid(), 1}, []int{pid, n})
	require.Less(t, time.Since(stopped), 30*time.Second, "the place was waited for")
	killed.restart(t)

	// One that is frozen while others take over has the answer when it wakes.
	awaiting := starter.send(t, "e", `call mcp_local_await {"text":"go"}`)
	began := filepath.Join(folder, "awaiting")
	require.Eventually(t, func() bool { data, err := os.ReadFile(began); return err == nil && len(data) > 0 }, patience, 10*time.Millisecond)
	data, err := os.ReadFile(began)
	require.NoError(t, err)
	_, err = fmt.Sscan(string(data), &pid)
	require.NoError(t, err)
	frozen, _ := other(pid)
	frozen.signal(t, syscall.SIGSTOP)
	seen := c.engine.temporal(t)
	require.Eventually(t, func() bool {
		described, err := seen.DescribeWorkflowExecution(t.Context(), protocol.Names{}.Session("http:e"), "")
		pending := described.GetPendingActivities()
		return err == nil && len(pending) == 1 && pending[0].GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
	}, patience, 50*time.Millisecond, "nobody took over")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "go"), nil, 0o600))
	frozen.signal(t, syscall.SIGCONT)
	require.Equal(t, "went", starter.await(t, awaiting).Text)
	data, err = os.ReadFile(began)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(data), "\n"), "it was called again")
	require.Empty(t, model.Invalid())
}

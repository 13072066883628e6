package command

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// TestSubagentStorm kills the real program every two seconds while five subagents
// of twenty steps are at work: 5 times, or for a minute with HOLDFAST_TEST_LONG.
func TestSubagentStorm(t *testing.T) {
	t.Parallel()
	const subagents, steps = 5, 20
	kills := 5
	if os.Getenv("HOLDFAST_TEST_LONG") != "" {
		kills = 30
	}
	// Slower than the machine is, so that there is something to kill.
	model := delegating(t, subagents, steps, llmtest.Call{ID: "c", Name: "exec", Arguments: `{"command":"sleep 0.3"}`})
	h := newHome(t, model.URL)
	h.environ = append(h.environ, "HOLDFAST_AGENT_SUBAGENT_MAX_ITERATIONS=30")
	p := h.start(t)
	require.True(t, p.send(t, "delegate"))
	for range kills {
		select {
		case <-time.After(2 * time.Second):
		case <-p.exited:
			t.Fatal("the process ended by itself")
		}
		p.kill()
		p = h.start(t)
	}

	opened, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(h.dir, "data", "store.db")})
	require.NoError(t, err)
	defer opened.Close()
	replies := map[string]int{}
	require.Eventually(t, func() bool {
		turns, err := opened.Turns(t.Context(), "http:main", 100)
		require.NoError(t, err)
		clear(replies)
		for _, turn := range turns {
			if turn.Status == store.TurnDone {
				replies[turn.Reply]++
			}
		}
		running, err := opened.RunningSessions(t.Context())
		require.NoError(t, err)
		return len(running) == 0 && len(turns) > subagents
	}, 3*patience, 50*time.Millisecond)
	want := map[string]int{"handed over": 1}
	for i := range subagents {
		want[fmt.Sprintf("summary: did task %d", i)] = 1
	}
	require.Equal(t, want, replies)
	require.Empty(t, model.Invalid())
	t.Logf("%d kills, %d model calls", kills, model.Count())
}

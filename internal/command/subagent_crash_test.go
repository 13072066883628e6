package command

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
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
	// Slow enough to be killed in between.
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
			if turn.Status == domain.TurnDone {
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

// TestLostEngineWithASubagent takes away all that the engine knew while a subagent is
// at work whose parent waits for nothing else: it goes on, and reports.
func TestLostEngineWithASubagent(t *testing.T) {
	t.Parallel()
	model := delegating(t, 1, 2, llmtest.Call{ID: "c", Name: "exec", Arguments: `{"command":"echo ran >> effects.txt; until [ -e release ]; do sleep 0.1; done"}`})
	h := newHome(t, model.URL)
	p := h.start(t)
	require.True(t, p.send(t, "delegate"))
	h.resumed(t, p)
	require.Eventually(t, func() bool {
		_, err := os.Stat(h.workspace("effects.txt"))
		return err == nil
	}, patience, 10*time.Millisecond)
	p.kill()
	h.loseEngine(t)
	require.NoError(t, os.WriteFile(h.workspace("release"), nil, 0o600))
	h.start(t)

	opened, err := store.Open(t.Context(), store.Options{DSN: filepath.Join(h.dir, "data", "store.db")})
	require.NoError(t, err)
	defer opened.Close()
	require.Eventually(t, func() bool {
		turns, err := opened.Turns(t.Context(), "http:main", 10)
		require.NoError(t, err)
		return len(turns) == 2 && turns[0].Reply == "summary: did task 0"
	}, patience, 20*time.Millisecond)
	effects, err := os.ReadFile(h.workspace("effects.txt"))
	require.NoError(t, err)
	require.Equal(t, "ran\n", string(effects))
	running, err := opened.RunningSessions(t.Context())
	require.NoError(t, err)
	require.Empty(t, running)
	require.Empty(t, model.Invalid())
}

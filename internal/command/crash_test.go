package command

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// resumeLimit bounds a restart and the rest of a turn.
const resumeLimit = 12 * time.Second

// threeSteps is a model whose turn has three steps: a command, a file, an answer.
// It depends only on the transcript, not on the number of calls.
func threeSteps(t *testing.T, command string) *llmtest.Server {
	return llmtest.NewFunc(t, threeStepsOf(command))
}

func threeStepsOf(command string) func(llmtest.Request) llmtest.Step {
	return func(r llmtest.Request) llmtest.Step {
		switch len(resultsOfTurn(r)) {
		case 0:
			return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: fmt.Sprintf(`{"command":%q,"timeout":90}`, command)})
		case 1:
			return llmtest.Calls(llmtest.Call{Name: "edit_file", Arguments: `{"path":"notes.txt","old_text":"one","new_text":"one two"}`})
		default:
			return llmtest.Text("all done")
		}
	}
}

// resultsOfTurn are the tool results since the last user message.
func resultsOfTurn(r llmtest.Request) []string {
	var results []string
	for _, m := range r.Messages {
		if domain.Role(m.Role) == domain.RoleUser {
			results = nil
		} else if domain.Role(m.Role) == domain.RoleTool {
			results = append(results, m.Content.Text)
		}
	}
	return results
}

// TestCrash kills the real program at each boundary of a turn of three steps,
// and starts it again. The process that ends a turn dies in the next.
func TestCrash(t *testing.T) {
	t.Parallel()
	type boundary struct {
		point string
		extra int // model calls in flight at the crash
	}
	boundaries := []boundary{
		{point: "accept.start"},
		{point: "accept.stored"},
		{point: "accept.signalled"},
		{point: "tool.intended:1"},
		{point: "tool.intended:2"},
	}
	for step := 1; step <= 3; step++ {
		for _, point := range []string{"complete.start", "complete.before-model", "complete.stored"} {
			boundaries = append(boundaries, boundary{point: fmt.Sprintf("%s:%d", point, step)})
		}
		boundaries = append(boundaries, boundary{point: fmt.Sprintf("complete.after-model:%d", step), extra: 1})
	}
	for call := 1; call <= 2; call++ {
		for _, point := range []string{"tool.start", "tool.before", "tool.after", "tool.stored"} {
			boundaries = append(boundaries, boundary{point: fmt.Sprintf("%s:%d", point, call)})
		}
	}
	for i, group := range divide(boundaries, 3) {
		t.Run(fmt.Sprint("home ", i+1), func(t *testing.T) {
			t.Parallel()
			model := threeSteps(t, "echo ran >> effects.txt")
			h := newHome(t, model.URL)
			h.keepProcesses(t)
			running := h.start(t)
			for _, tt := range group {
				if !t.Run(tt.point, func(t *testing.T) {
					h.nextTurn(t, model, tt.point)
					acknowledged := running.post(t)
					running.awaitExit(t)
					h.dieAt(t, "")
					var took time.Duration
					running, took = h.restart(t, acknowledged)
					t.Logf("done %v after the restart", took.Round(time.Millisecond))
					require.Less(t, took, resumeLimit)
					h.checkThreeSteps(t, model, 3+tt.extra)
				}) {
					return
				}
			}
		})
	}

	for step := 1; step <= 3; step++ {
		t.Run(fmt.Sprintf("during model call %d", step), func(t *testing.T) {
			t.Parallel()
			model := hangOnce(t, step, "echo ran >> effects.txt")
			h := newHome(t, model.URL)
			first := h.start(t)
			h.prepare(t)
			require.True(t, first.post(t))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			require.NoError(t, model.Await(ctx, step))
			first.kill()
			took := h.resume(t)
			t.Logf("done %v after the restart", took.Round(time.Millisecond))
			require.Less(t, took, resumeLimit)
			h.checkThreeSteps(t, model, 3+1)
		})
	}
}

// TestCrashDuringALongCommand kills the real program during a command of 60 seconds.
// Other tests run while the command does.
func TestCrashDuringALongCommand(t *testing.T) {
	model := threeSteps(t, "echo ran >> effects.txt; sleep 60; echo built")
	h := newHome(t, model.URL)
	first := h.start(t)
	h.prepare(t)
	started := time.Now()
	require.True(t, first.post(t))
	require.Eventually(t, func() bool {
		_, err := os.Stat(h.workspace("effects.txt"))
		return err == nil
	}, patience, 10*time.Millisecond)
	first.kill()
	second := h.start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	answered := make(chan time.Time, 1)
	go func() {
		_, _ = second.api().Follow(ctx, h.message(), func(event.Event) {})
		answered <- time.Now()
	}()
	t.Parallel()
	total := (<-answered).Sub(started)
	second.finish(t)
	t.Logf("%v in all", total.Round(time.Millisecond))
	require.Greater(t, total, 60*time.Second, "the command cannot have been run to its end")
	require.Contains(t, resultsOfTurn(model.Requests()[1])[0], "built")
	h.checkThreeSteps(t, model, 3)
}

// TestLostEngine kills the program in the middle of a command and deletes the
// engine's data: the turn is started again and continues from the store.
func TestLostEngine(t *testing.T) {
	t.Parallel()
	model := threeSteps(t, "echo ran >> effects.txt; until [ -e release ]; do sleep 0.1; done")
	h := newHome(t, model.URL)
	first := h.start(t)
	h.prepare(t)
	require.True(t, first.post(t))
	require.Eventually(t, func() bool {
		_, err := os.Stat(h.workspace("effects.txt"))
		return err == nil
	}, patience, 10*time.Millisecond)
	first.kill()
	h.loseEngine(t)
	require.NoError(t, os.WriteFile(h.workspace("release"), nil, 0o600))
	h.resume(t)
	h.checkThreeSteps(t, model, 3)
}

// loseEngine deletes the engine's data.
func (h *home) loseEngine(t *testing.T) {
	t.Helper()
	lost, err := filepath.Glob(filepath.Join(h.dir, "data", "engine.db*"))
	require.NoError(t, err)
	require.NotEmpty(t, lost)
	for _, path := range lost {
		require.NoError(t, os.Remove(path))
	}
}

// hangOnce is [threeSteps], except that the first model call of a step
// hangs.
func hangOnce(t *testing.T, step int, command string) *llmtest.Server {
	decide := threeStepsOf(command)
	hung := false
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if !hung && len(resultsOfTurn(r)) == step-1 {
			hung = true
			return llmtest.Hang()
		}
		return decide(r)
	})
}

// divide divides what is done one after the other into n parts, to be done side by side.
func divide[T any](all []T, n int) [][]T {
	parts := make([][]T, n)
	for i, one := range all {
		parts[i%n] = append(parts[i%n], one)
	}
	return parts
}

// keepProcesses has the home's processes outlive the subtests of t, and die where dieAt
// says.
func (h *home) keepProcesses(t *testing.T) {
	h.owner = t
	h.environ = append(h.environ, dieAt("@"+h.failpoint()))
}

// failpoint is the file that names the point to die at.
func (h *home) failpoint() string { return filepath.Join(h.dir, "failpoint") }

// dieAt names the point at which processes die from now on; empty: nowhere.
func (h *home) dieAt(t *testing.T, point string) {
	t.Helper()
	next := h.failpoint() + ".next"
	require.NoError(t, os.WriteFile(next, []byte(point), 0o600))
	require.NoError(t, os.Rename(next, h.failpoint()))
}

// nextTurn begins another crash test, in which the running process dies at a point.
func (h *home) nextTurn(t *testing.T, model *llmtest.Server, point string) {
	t.Helper()
	h.turn++
	h.before = model.Count()
	if err := os.Remove(h.workspace("effects.txt")); !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	h.prepare(t)
	h.dieAt(t, point)
}

// message is the client ID of the message of the crash test.
func (h *home) message() string { return fmt.Sprint("m", h.turn+1) }

// session is where it is sent.
func (h *home) session() string {
	if h.turn == 0 {
		return "main"
	}
	return fmt.Sprint("main", h.turn+1)
}

// prepare writes the file that the turn edits.
func (h *home) prepare(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(h.workspace("notes.txt"), []byte("one\n"), 0o600))
}

// resume restarts the program and waits for the answer. It returns the time taken.
func (h *home) resume(t *testing.T) time.Duration {
	t.Helper()
	_, took := h.restart(t, true)
	return took
}

// restart is resume that also returns the process, and sends the message again if it was
// not acknowledged.
func (h *home) restart(t *testing.T, acknowledged bool) (second *process, took time.Duration) {
	t.Helper()
	started := time.Now()
	second = h.start(t)
	if !acknowledged {
		require.True(t, second.post(t))
	}
	second.finish(t)
	return second, time.Since(started)
}

// finish waits for the answer of a crash test and checks the transcript.
func (p *process) finish(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	message, err := p.api().Follow(ctx, p.home.message(), func(event.Event) {})
	require.NoError(t, err)
	require.Equal(t, domain.ReplyDone, message.Status, message.Text)
	require.Equal(t, "all done", message.Text)

	transcript, err := p.api().Transcript(ctx, "http:"+p.home.session())
	require.NoError(t, err)
	var roles []string
	for _, m := range transcript {
		roles = append(roles, string(m.Role))
	}
	require.Equal(t, []string{"user", "assistant", "tool", "assistant", "tool", "assistant"}, roles)
}

// checkThreeSteps checks that no step was repeated.
func (h *home) checkThreeSteps(t *testing.T, model *llmtest.Server, requests int) {
	t.Helper()
	require.Empty(t, model.Invalid())
	require.LessOrEqual(t, model.Count()-h.before, requests)
	effects, err := os.ReadFile(h.workspace("effects.txt"))
	require.NoError(t, err)
	require.Equal(t, "ran\n", string(effects))
	notes, err := os.ReadFile(h.workspace("notes.txt"))
	require.NoError(t, err)
	require.Equal(t, "one two", strings.TrimSpace(string(notes)))
}

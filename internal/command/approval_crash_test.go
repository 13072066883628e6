package command

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// answerOnce follows the message of a crash test and answers the first approval request
// with each of the answers, in messages of their own. It returns
// when the turn or the process has ended.
func (p *process) answerOnce(t *testing.T, answers ...string) {
	t.Helper()
	if p.info.API == "" {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() {
		<-p.exited
		cancel()
	}()
	answered := false
	_, _ = p.api().Follow(ctx, p.home.message(), func(e event.Event) {
		if e.Kind != event.Approval || answered {
			return
		}
		answered = true
		for i, text := range answers {
			_, _ = p.api().Send(ctx, p.home.session(), p.home.message()+string(rune('a'+i)), text)
		}
	})
}

// TestApprovalCrash kills the real program around the approval of a
// command: it runs once, after its approval, in all cases. At the points, the process that
// ends a turn dies in the next.
func TestApprovalCrash(t *testing.T) {
	t.Parallel()
	// asking is a home where a turn requests approval for its command.
	asking := func(t *testing.T) (*home, *llmtest.Server) {
		t.Helper()
		model := threeSteps(t, "echo ran >> effects.txt")
		h := newHome(t, model.URL)
		h.environ = append(h.environ, "HOLDFAST_APPROVALS_RULES=ask exec")
		return h, model
	}
	// ask starts a process whose turn waits for an approval.
	ask := func(t *testing.T, h *home) (p *process, id string) {
		t.Helper()
		p = h.start(t)
		h.prepare(t)
		require.True(t, p.post(t))
		return p, p.awaitQuestion(t)
	}
	points := []string{
		"approval.asked:1",   // the request is stored but not sent
		"accept.signalled:2", // the decision is accepted
		"approval.decided:1", // the decision is stored, the workflow not signalled
		"tool.start:2",       // the workflow is signalled
		"tool.before:1",      // the command is about to run
		"tool.intended:1",
		"tool.after:1",
		"tool.stored:1",
	}
	for i, group := range divide(points, 2) {
		t.Run(fmt.Sprint("home ", i+1), func(t *testing.T) {
			t.Parallel()
			h, model := asking(t)
			h.keepProcesses(t)
			running := h.start(t)
			for _, point := range group {
				if !t.Run(point, func(t *testing.T) {
					h.nextTurn(t, model, point)
					require.True(t, running.post(t))
					running.answerOnce(t, "/approve", "/approve")
					running.awaitExit(t)
					h.dieAt(t, "")
					second := h.start(t)
					second.answerOnce(t, "/approve", "/deny")
					second.kill()
					running, _ = h.restart(t, true)
					h.checkThreeSteps(t, model, 3)
				}) {
					return
				}
			}
		})
	}

	t.Run("while it waits", func(t *testing.T) {
		t.Parallel()
		h, model := asking(t)
		for range 3 {
			p, _ := ask(t, h)
			require.NoFileExists(t, h.workspace("effects.txt"))
			p.kill()
		}
		p := h.start(t)
		p.answerOnce(t, "/approve")
		p.kill()
		h.resume(t)
		h.checkThreeSteps(t, model, 3)
	})

	t.Run("while it waits, and the engine loses its data", func(t *testing.T) {
		t.Parallel()
		h, model := asking(t)
		p, id := ask(t, h)
		p.kill()
		h.loseEngine(t)
		p = h.start(t)
		require.Equal(t, id, p.awaitQuestion(t), "the same question")
		p.answerOnce(t, "/approve")
		p.kill()
		h.resume(t)
		h.checkThreeSteps(t, model, 3)
	})

	t.Run("a command that runs when the rule is added", func(t *testing.T) {
		t.Parallel()
		model := threeSteps(t, "echo ran >> effects.txt; until [ -e go ]; do sleep 0.05; done; echo built")
		h := newHome(t, model.URL)
		p := h.start(t)
		h.prepare(t)
		require.True(t, p.post(t))
		require.Eventually(t, func() bool {
			_, err := os.Stat(h.workspace("effects.txt"))
			return err == nil
		}, patience, 10*time.Millisecond)
		p.kill()
		p = h.start(t, "HOLDFAST_APPROVALS_RULES=ask exec")
		go p.answerOnce(t, "/deny")
		require.NoError(t, os.WriteFile(h.workspace("go"), nil, 0o600))
		h.resumed(t, p)
		require.Contains(t, resultsOfTurn(model.Requests()[1])[0], "built")
		h.checkThreeSteps(t, model, 3)
	})

	t.Run("it can be denied after a crash", func(t *testing.T) {
		t.Parallel()
		h, _ := asking(t)
		p, _ := ask(t, h)
		p.kill()
		p = h.start(t)
		p.answerOnce(t, "/deny", "/approve")
		h.resumed(t, p)
		require.NoFileExists(t, h.workspace("effects.txt"))
	})
}

// awaitQuestion waits until the message of a crash test waits for an approval, and
// returns its ID.
func (p *process) awaitQuestion(t *testing.T) (id string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := p.api().Follow(ctx, p.home.message(), func(e event.Event) {
		if e.Kind == event.Approval {
			id = e.ID
			cancel()
		}
	})
	require.NotEmpty(t, id, "%v", err)
	return id
}

// resumed waits for the answer to the message of a crash test.
func (h *home) resumed(t *testing.T, p *process) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	message, err := p.api().Follow(ctx, p.home.message(), func(event.Event) {})
	require.NoError(t, err)
	require.Equal(t, domain.ReplyDone, message.Status, message.Text)
}

package command

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// slackTurn is a model whose turn has a command and an answer, which it takes its
// time to write. It decides by the transcript alone.
func slackTurn(t *testing.T, answer string, pause time.Duration) *llmtest.Server {
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if len(resultsOfTurn(r)) == 0 {
			return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo ran >> effects.txt"}`})
		}
		return llmtest.SlowDrip(answer, pause)
	})
}

// crashed asks something in a channel, waits until the process died of it, calls died,
// starts the process again, which it returns, and checks that it answers once.
func (h *slackHome) crashed(t *testing.T, model *llmtest.Server, first *process, answer string, requests int, died ...func(*testing.T)) (second *process) {
	t.Helper()
	asked := h.slack.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" do it")
	h.asked = append(h.asked, asked.TS)
	first.awaitExit(t)
	for _, f := range died {
		f(t)
	}
	second = h.start(t)
	said := replies(t, h.slack, slacktest.General, asked.TS, 1)
	require.Equal(t, answer, said[0])
	require.NoError(t, asked.Wait(t.Context()))
	awaitRest(t, second.temporal(t), slackSession(slacktest.General, asked.TS))
	h.requireOnceRan(t)
	require.Empty(t, model.Invalid())
	require.LessOrEqual(t, model.Count()-h.before, requests)
	for _, m := range h.slack.Channel(slacktest.General) {
		require.True(t, m.BotID == "" || slices.Contains(h.asked, m.ThreadTS), "%q is in the wrong thread", m.Text)
	}
	for _, thread := range h.asked {
		requireOnly(t, h.slack, slacktest.General, thread, answer)
	}
	return second
}

// requireOnceRan checks that the command of the turn ran once.
func (h *slackHome) requireOnceRan(t *testing.T) {
	t.Helper()
	effects, err := os.ReadFile(h.workspace("effects.txt"))
	require.NoError(t, err)
	require.Equal(t, "ran\n", string(effects))
}

// retries are the times after which a server delivers again: soon enough for what
// was lost in a crash to come after it.
var retries = slacktest.RetryDelays(100*time.Millisecond, time.Second, 2*time.Second, 4*time.Second)

// TestSlackCrash kills the real program at each boundary of a turn. The process that ends
// a turn dies in the next.
func TestSlackCrash(t *testing.T) {
	t.Parallel()
	points := []string{
		"enrich.done", "enrich.stored", "accept.start", "accept.stored", "accept.signalled",
		"tool.start", "tool.before", "tool.after", "tool.stored", "deliver.claimed", "deliver.sent", "deliver.stored",
	}
	for step := 1; step <= 2; step++ {
		for _, point := range []string{"start", "before-model", "after-model", "stored"} {
			points = append(points, fmt.Sprintf("complete.%s:%d", point, step))
		}
	}
	type connected struct {
		name, mode string
		points     []string
	}
	homes := []connected{{"over http", slack.ModeHTTP, []string{"accept.stored", "deliver.sent"}}}
	for i, group := range divide(points, 3) {
		homes = append(homes, connected{fmt.Sprint("home ", i+1), slack.ModeSocket, group})
	}
	for _, tt := range homes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			server := slacktest.Start(t, retries)
			model := slackTurn(t, "all done", 0)
			h := newSlackHome(t, model.URL, server, tt.mode)
			h.keepProcesses(t)
			running := h.start(t)
			for _, point := range tt.points {
				if !t.Run(point, func(t *testing.T) {
					h.connected(t)
					h.nextTurn(t, model, point)
					requests := 2
					if strings.HasPrefix(point, "complete.after-model") {
						requests++
					}
					running = h.crashed(t, model, running, "all done", requests, func(t *testing.T) { h.dieAt(t, "") })
				}) {
					return
				}
			}
		})
	}
}

// TestSlackCrashWithLostEngine kills the real program between storing the reply and
// recording its delivery, and deletes the engine's data: the reply is posted once.
func TestSlackCrashWithLostEngine(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"complete.stored:2", "deliver.claimed", "deliver.sent"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			server := slacktest.Start(t, retries)
			model := slackTurn(t, "all done", 0)
			h := newSlackHome(t, model.URL, server, slack.ModeSocket)
			first := h.start(t, dieAt(point))
			h.connected(t)
			h.crashed(t, model, first, "all done", 2, h.loseEngine)
		})
	}
}

// slowAnswer is long enough in the making for a draft of it to be shown, if there is
// slowPause between its pieces.
const (
	slowAnswer = "It takes its time but it will be done in the end and then it is all done."
	slowPause  = 500 * time.Millisecond
)

// TestSlackCrashWithDraft kills the real program while a draft of the answer is
// shown, or about to be.
func TestSlackCrashWithDraft(t *testing.T) {
	t.Parallel()
	type moment struct {
		point  string // the failpoint
		before string // or before a call of this method
		after  string // or after it
	}
	cases := map[string]func(*testing.T){}
	for _, at := range []moment{
		{point: "draft.start"},
		{point: "draft.claimed"},
		{point: "draft.posted"},
		{point: "draft.stored"},
		{after: "chat.startStream"},
		{before: "chat.appendStream"},
		{after: "chat.appendStream"},
		{before: "chat.update"},
		{after: "chat.update"},
		{before: "chat.stopStream"},
		{after: "chat.stopStream"},
	} {
		name := at.point
		if at.before != "" {
			name = "before " + at.before
		} else if at.after != "" {
			name = "after " + at.after
		}
		cases[name] = func(t *testing.T) {
			server := slacktest.Start(t, retries)
			model := slackTurn(t, slowAnswer, slowPause)
			h := newSlackHome(t, model.URL, server, slack.ModeSocket)
			kill := h.killOnce()
			if at.before != "" {
				server.Before(at.before, func(slacktest.Call) { kill() })
			}
			if at.after != "" {
				server.After(at.after, func(slacktest.Call) { kill() })
			}
			var environ []string
			if at.point != "" {
				environ = append(environ, dieAt(at.point))
			}
			first := h.start(t, environ...)
			h.connected(t)
			h.crashed(t, model, first, slowAnswer, 3)
		}
	}
	sideBySide(t, cases)
}

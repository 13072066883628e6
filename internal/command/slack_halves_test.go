package command

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/store/storetest"
)

// halves are engine, worker and starter in separate processes on one home.
type halves struct {
	*slackHome
	engine, worker, starter *process
}

func startHalves(t *testing.T, h *slackHome) *halves {
	t.Helper()
	address := freeAddress(t) // the engine is to be found where it was
	port := address[len("127.0.0.1:"):]
	h.environ = append(h.environ, "HOLDFAST_TEMPORAL_PORT="+port)
	s := &halves{slackHome: h, engine: h.run(t, "engine")}
	s.worker, s.starter = h.run(t, "worker"), h.run(t, "starter")
	h.connected(t)
	return s
}

// TestSlackHalves kills engine, worker and starter one by one while a turn is on.
func TestSlackHalves(t *testing.T) {
	t.Parallel()
	// The turn runs a command until it is released, then answers slowly.
	model := func(t *testing.T) *llmtest.Server {
		return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
			if len(resultsOfTurn(r)) == 0 {
				return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"echo ran >> effects.txt; until [ -e release ]; do sleep 0.05; done"}`})
			}
			return llmtest.SlowDrip(slowAnswer, slowPause)
		})
	}
	running := func(t *testing.T, h *slackHome) {
		require.Eventually(t, func() bool {
			_, err := os.Stat(h.workspace("effects.txt"))
			return err == nil
		}, patience, 10*time.Millisecond)
	}
	release := func(t *testing.T, h *slackHome) {
		require.NoError(t, os.WriteFile(h.workspace("release"), nil, 0o600))
	}
	drafted := func(t *testing.T, h *slackHome) {
		require.Eventually(t, func() bool {
			return len(h.slack.Calls("chat.appendStream"))+len(h.slack.Calls("chat.update")) > 0
		}, patience, 10*time.Millisecond)
	}
	cases := map[string]func(*testing.T){}
	for name, during := range map[string]func(*testing.T, *halves){
		"the starter, while a command runs": func(t *testing.T, s *halves) {
			running(t, s.slackHome)
			s.starter.kill()
			s.starter = s.run(t, "starter")
			release(t, s.slackHome)
		},
		"the starter, while a draft is shown": func(t *testing.T, s *halves) {
			release(t, s.slackHome)
			drafted(t, s.slackHome)
			s.starter.kill()
			s.starter = s.run(t, "starter")
		},
		"the worker, while a command runs": func(t *testing.T, s *halves) {
			running(t, s.slackHome)
			s.worker.kill()
			s.worker = s.run(t, "worker")
			release(t, s.slackHome)
		},
		"the worker, while a draft is shown": func(t *testing.T, s *halves) {
			release(t, s.slackHome)
			drafted(t, s.slackHome)
			s.worker.kill()
			s.worker = s.run(t, "worker")
		},
		"the engine, while a command runs": func(t *testing.T, s *halves) {
			running(t, s.slackHome)
			s.engine.kill()
			// Accepted without it, and answered with it.
			later := s.slack.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" and this")
			require.NoError(t, later.Wait(t.Context()))
			release(t, s.slackHome)
			<-time.After(outage(t, time.Second))
			s.engine = s.run(t, "engine")
			replies(t, s.slack, slacktest.General, later.TS, 1)
			awaitRest(t, s.engine.temporal(t), slackSession(slacktest.General, later.TS))
			requireOnly(t, s.slack, slacktest.General, later.TS, slowAnswer)
			effects, err := os.ReadFile(s.workspace("effects.txt"))
			require.NoError(t, err)
			require.Equal(t, "ran\nran\n", string(effects), "once for each message")
			require.NoError(t, os.WriteFile(s.workspace("effects.txt"), []byte("ran\n"), 0o600))
		},
	} {
		cases[name] = func(t *testing.T) {
			server := slacktest.Start(t, retries)
			model := model(t)
			h := newSlackHome(t, model.URL, server, slack.ModeSocket)
			if strings.Contains(name, "draft") { // the draft is written by another process
				h.environ = append(h.environ, "HOLDFAST_STORE_DSN="+storetest.Postgres(t))
			}
			s := startHalves(t, h)
			asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" do it")
			require.NoError(t, asked.Wait(t.Context()))
			during(t, s)
			require.Equal(t, []string{slowAnswer}, replies(t, server, slacktest.General, asked.TS, 1))
			awaitRest(t, s.engine.temporal(t), slackSession(slacktest.General, asked.TS))
			requireOnly(t, server, slacktest.General, asked.TS, slowAnswer)
			s.requireOnceRan(t)
			require.Empty(t, model.Invalid())
		}
	}
	sideBySide(t, cases)
}

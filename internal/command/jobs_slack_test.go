package command

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// reminding is a model that adds a job for each request, at the time of at or, if
// requested, every 2 seconds. It answers jobs with their prompt.
func reminding(t testing.TB, at func() time.Time) *llmtest.Server {
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		asked, _, _ := strings.Cut(r.LastUser(), "\n\n[")
		_, prompt, isJob := strings.Cut(asked, "[Scheduled job ")
		job := map[string]any{"action": "add", "message": "drink water"}
		switch {
		case isJob:
			_, prompt, _ = strings.Cut(prompt, "\n")
			return llmtest.Text("time to " + prompt)
		case len(resultsOfTurn(r)) > 0:
			outcome, _, _ := strings.Cut(resultsOfTurn(r)[0], "\n")
			return llmtest.Text(outcome)
		case strings.Contains(asked, "every 2 seconds"):
			job["every_seconds"] = 2
		default:
			job["at"] = at().Format(time.RFC3339)
		}
		arguments, err := json.Marshal(job)
		require.NoError(t, err)
		return llmtest.Calls(llmtest.Call{Name: "cron", Arguments: string(arguments)})
	})
}

// TestSlackJob checks that the replies of jobs go to the thread that added them.
func TestSlackJob(t *testing.T) {
	t.Parallel()
	t.Run("while it runs", func(t *testing.T) {
		t.Parallel()
		server := slacktest.Start(t)
		model := reminding(t, func() time.Time { return time.Now().Add(5 * time.Second) })
		n := startSlack(t, server, model.URL, slack.ModeSocket, func(c *config.Config, _ *node.Roles) { c.Jobs.MinEvery = time.Second })
		first := server.Say(slacktest.Ben, slacktest.General, "has anybody seen Ana?")
		once := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" remind me in 5 seconds", slacktest.InThread(first.TS))
		require.NoError(t, once.Wait(t.Context()))
		require.Equal(t, []string{"Added.", "time to drink water"}, n.replies(t, slacktest.General, first.TS, 2))

		again := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" remind me every 2 seconds")
		require.NoError(t, again.Wait(t.Context()))
		require.Eventually(t, func() bool { return len(finished(server, slacktest.General, again.TS)) > 2 }, patience, 10*time.Millisecond)
		made, err := n.store.Jobs(t.Context(), slackSession(slacktest.General, again.TS))
		require.NoError(t, err)
		require.Len(t, made, 1)
		require.NoError(t, n.jobs.Remove(t.Context(), made[0].ID))
		awaitRest(t, n.client, domain.JobSession(made[0].ID))
		want := append([]string{"Added."}, slices.Repeat([]string{"time to drink water"}, len(n.dues(t, made[0].ID)))...)
		replies(t, server, slacktest.General, again.TS, len(want))
		requireOnly(t, server, slacktest.General, again.TS, want...)
		requireOnly(t, server, slacktest.General, first.TS, "Added.", "time to drink water")
		require.Empty(t, finished(server, slacktest.General, ""), "beside the threads")
		require.Empty(t, model.Invalid())
	})

	for name, end := range map[string]func(*testing.T, *process){
		"stopped": func(t *testing.T, p *process) {
			require.NoError(t, p.command.Process.Signal(syscall.SIGTERM))
			p.awaitExit(t)
		},
		"killed": func(_ *testing.T, p *process) { p.kill() },
	} {
		t.Run("due after it was "+name, func(t *testing.T) {
			t.Parallel()
			due := sync.OnceValue(func() time.Time { return time.Now().Add(25 * time.Second).Truncate(time.Second) })
			server := slacktest.Start(t, retries)
			model := reminding(t, due)
			h := newSlackHome(t, model.URL, server, slack.ModeSocket)
			h.environ = append(h.environ, "HOLDFAST_JOBS_MIN_EVERY=1s")
			p := h.start(t)
			h.connected(t)
			asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" remind me in 25 seconds")
			require.NoError(t, asked.Wait(t.Context()))
			require.Equal(t, []string{"Added."}, replies(t, server, slacktest.General, asked.TS, 1))
			awaitRest(t, p.temporal(t), slackSession(slacktest.General, asked.TS))
			end(t, p)
			require.True(t, time.Now().Before(due()))
			until(t, due().Add(time.Second))

			p = h.start(t)
			want := []string{"Added.", "time to drink water"}
			require.Equal(t, want, replies(t, server, slacktest.General, asked.TS, 2))
			require.Contains(t, h.command(t, "jobs", "list"), "no jobs")
			end(t, p)
			h.start(t)
			later := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" remind me every 2 seconds")
			require.NoError(t, later.Wait(t.Context()))
			replies(t, server, slacktest.General, later.TS, 1)
			requireOnly(t, server, slacktest.General, asked.TS, want...)
			require.Empty(t, model.Invalid())
		})
	}
	t.Run("made at the command line", func(t *testing.T) {
		t.Parallel()
		server := slacktest.Start(t)
		model := reminding(t, time.Now)
		h := newSlackHome(t, model.URL, server, slack.ModeSocket)
		h.start(t)
		h.connected(t)
		asked := server.Say(slacktest.Ben, slacktest.General, "what a day")
		for thread, beside := range map[string][]string{"": nil, asked.TS: {"--thread", asked.TS}} {
			added := h.command(t, append([]string{"jobs", "add", "-m", "drink water", "--every", "1h", "--channel", "slack", "--chat", slacktest.General}, beside...)...)
			h.command(t, "jobs", "run", strings.TrimSuffix(strings.Fields(added)[1], ":"))
			require.Equal(t, []string{"time to drink water"}, replies(t, server, slacktest.General, thread, 1))
		}
		added := h.command(t, "jobs", "add", "-m", "drink water", "--every", "1h", "--channel", "slack", "--chat", "C0NOWHERE")
		h.command(t, "jobs", "run", strings.TrimSuffix(strings.Fields(added)[1], ":"))
		require.Eventually(t, func() bool {
			return strings.Contains(h.command(t, "jobs", "list"), "not delivered")
		}, patience, 100*time.Millisecond)
		require.Empty(t, model.Invalid())
	})
}

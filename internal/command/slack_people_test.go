package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

var pairingCode = regexp.MustCompile(`holdfast pairing approve ([A-Z0-9-]+)`)

// command runs another command of the real program on the home.
func (h *home) command(t *testing.T, args ...string) string {
	t.Helper()
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Env = h.environ
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	require.NoError(t, err, complaint.String())
	return string(out)
}

func TestSlackPairing(t *testing.T) {
	t.Parallel()
	server := slacktest.Start(t)
	model := heard(t)
	h := newSlackHome(t, model.URL, server, slack.ModeSocket)
	path := filepath.Join(h.dir, "config.yaml")
	settings, err := os.ReadFile(path)
	require.NoError(t, err)
	h.configure(t, strings.ReplaceAll(string(settings), `allow_users: ["*"]`, `allow_users: []`))
	h.start(t)
	h.connected(t)

	refused := server.Say(slacktest.Ana, slacktest.DM, "hello")
	require.NoError(t, refused.Wait(t.Context()))
	said := replies(t, server, slacktest.DM, "", 1)
	code := pairingCode.FindStringSubmatch(said[0])
	require.NotNil(t, code, said[0])
	require.Contains(t, h.command(t, "pairing", "list"), code[1])
	require.Contains(t, h.command(t, "pairing", "approve", code[1]), "may now use the bot on slack")
	require.Zero(t, model.Count())

	let := server.Say(slacktest.Ana, slacktest.DM, "hello again")
	require.NoError(t, let.Wait(t.Context()))
	require.Equal(t, "heard: hello again", replies(t, server, slacktest.DM, "", 2)[1])
	mention := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" in public")
	require.NoError(t, mention.Wait(t.Context()))
	replies(t, server, slacktest.General, mention.TS, 1)

	h.command(t, "pairing", "remove", "slack", slacktest.Ana)
	out := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" and now", slacktest.InThread(mention.TS))
	require.NoError(t, out.Wait(t.Context()))
	require.Equal(t, 2, model.Count(), "the refused messages never reached the model")
}

// TestSlackStop presses the button, or types the command, while a command runs that
// does not want to end.
func TestSlackStop(t *testing.T) {
	t.Parallel()
	stubborn := `{"command":"trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done"}`
	for name, stop := range map[string]func(*testing.T, *slackNode) slacktest.Delivery{
		"by the button": func(t *testing.T, n *slackNode) slacktest.Delivery {
			draft := awaitDraft(t, n.slack, slacktest.DM, "")
			return n.slack.Click(slacktest.Ana, slacktest.DM, draft.TS, "holdfast_stop", "")
		},
		"by the slash command": func(_ *testing.T, n *slackNode) slacktest.Delivery {
			return n.slack.Slash(slacktest.Ana, slacktest.DM, "/holdfast", "stop")
		},
		"by a message": func(_ *testing.T, n *slackNode) slacktest.Delivery {
			return n.slack.Say(slacktest.Ana, slacktest.DM, "/stop")
		},
	} {
		for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
			t.Run(name+" over "+mode, func(t *testing.T) {
				t.Parallel()
				server := slacktest.Start(t)
				model := llmtest.NewServer(t, llmtest.Calls(llmtest.Call{Name: "exec", Arguments: stubborn}), llmtest.Text("next"))
				n := startSlack(t, server, model.URL, mode)
				require.NoError(t, server.Say(slacktest.Ana, slacktest.DM, "run").Wait(t.Context()))
				var pid string
				require.Eventually(t, func() bool {
					raw, err := os.ReadFile(filepath.Join(n.cfg.Workspace, "pid"))
					pid = strings.TrimSpace(string(raw))
					return err == nil && pid != ""
				}, patience, 10*time.Millisecond)
				begun := time.Now()
				require.NoError(t, stop(t, n).Wait(t.Context()))
				if name == "by the button" {
					begun = server.Events("block_actions")[0].Attempts()[0].At
				}
				require.Equal(t, []string{"Stopped."}, n.replies(t, slacktest.DM, "", 1))
				require.Less(t, time.Since(begun), stopLimit)
				require.Eventually(t, func() bool {
					_, err := os.Stat("/proc/" + pid)
					return os.IsNotExist(err)
				}, patience, 10*time.Millisecond, "the command still runs")
				require.NoError(t, server.Say(slacktest.Ana, slacktest.DM, "again").Wait(t.Context()))
				n.replies(t, slacktest.DM, "", 2)
				n.closedCost(t, slackSession(slacktest.DM, ""))
				requireOnly(t, server, slacktest.DM, "", "Stopped.", "next")
				require.Empty(t, model.Invalid())
			})
		}
	}
}

// TestSlackStopKeepsTheHalfAnswer stops an answer that is being written: what there is of it
// stays, marked.
func TestSlackStopKeepsTheHalfAnswer(t *testing.T) {
	t.Parallel()
	for name, channel := range map[string]string{"streamed": slacktest.General, "edited": slacktest.DM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := slacktest.Start(t)
			model := llmtest.NewServer(t, llmtest.StallStream(strings.Repeat("A word or two of it. ", 40), 20))
			n := startSlack(t, server, model.URL, slack.ModeSocket)
			asked := server.Say(slacktest.Ana, channel, slacktest.Mention+" tell me")
			require.NoError(t, asked.Wait(t.Context()))
			thread := asked.TS
			if channel == slacktest.DM {
				thread = ""
			}
			var draft slacktest.Message
			require.Eventually(t, func() bool {
				for _, m := range server.Channel(channel) {
					if isDraft(m) && strings.Contains(m.Text, "A word") {
						draft = m
					}
				}
				return draft.TS != ""
			}, patience, 10*time.Millisecond)
			if channel == slacktest.DM {
				require.NoError(t, server.Say(slacktest.Ana, channel, "/stop").Wait(t.Context()))
			} else {
				require.NoError(t, server.StopAgent(slacktest.Ana, channel, thread).Wait(t.Context()))
			}
			require.Eventually(t, func() bool {
				m := server.Message(channel, draft.TS)
				return strings.HasPrefix(m.Text, "A word or two of it.") && strings.HasSuffix(m.Text, "\n\nStopped")
			}, patience, 10*time.Millisecond)
			n.replies(t, channel, thread, 2)
			n.closedCost(t, slackSession(channel, thread))
			requireOnly(t, server, channel, thread, server.Message(channel, draft.TS).Text, "Stopped.")
		})
	}
}

func TestSlackSlashCommands(t *testing.T) {
	t.Parallel()
	server := slacktest.Start(t)
	model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		if topic(r) == "hang" {
			return llmtest.Hang()
		}
		return llmtest.Text("next")
	})
	n := startSlack(t, server, model.URL, slack.ModeSocket)
	ephemeral := func(text string) string {
		d := server.Slash(slacktest.Ana, slacktest.General, "/holdfast", text)
		require.NoError(t, d.Wait(t.Context()))
		told := ""
		require.Eventually(t, func() bool {
			if all := server.Ephemeral(slacktest.General); len(all) > 0 {
				told = all[len(all)-1].Text
			}
			return strings.Contains(string(d.Events[0].Response()), "ephemeral") && told != ""
		}, patience, 10*time.Millisecond)
		return string(d.Events[0].Response())
	}
	require.Contains(t, ephemeral("help"), "/holdfast status")
	require.Contains(t, ephemeral("status"), "not working on anything")
	asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hang")
	require.NoError(t, asked.Wait(t.Context()))
	require.NoError(t, model.Await(t.Context(), 1))
	require.Contains(t, ephemeral("status"), "hang")
	require.Contains(t, ephemeral("stop"), "Stopping what you asked for")
	require.Equal(t, []string{"Stopped."}, n.replies(t, slacktest.General, asked.TS, 1))
	n.closedCost(t, slackSession(slacktest.General, asked.TS))
	requireOnly(t, server, slacktest.General, asked.TS, "Stopped.")
	require.Contains(t, ephemeral("status"), "not working on anything")
	require.Contains(t, ephemeral("new"), "Each thread is a separate conversation")
}

// TestSlackCosts holds Slack to what any push channel costs.
func TestSlackCosts(t *testing.T) {
	t.Parallel()
	call := llmtest.Call{Name: "exec", Arguments: `{"command":"true"}`}
	for name, tt := range map[string]struct {
		script             []llmtest.Step
		events, activities int
	}{
		"a plain reply": {[]llmtest.Step{llmtest.Text("a")}, 12, 1},
		"a tool round":  {[]llmtest.Step{llmtest.Calls(call), llmtest.Text("a")}, 24, 3},
		"a long reply with a draft": {[]llmtest.Step{
			llmtest.SlowDrip(slowAnswer, slowPause),
		}, 12, 1},
		"a reply in parts": {[]llmtest.Step{llmtest.Text(longAnswer)}, 12, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := slacktest.Start(t)
			n := startSlack(t, server, llmtest.NewServer(t, tt.script...).URL, slack.ModeSocket)
			asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" go")
			require.NoError(t, asked.Wait(t.Context()))
			c := n.closedCost(t, slackSession(slacktest.General, asked.TS))
			t.Log(c)
			require.LessOrEqual(t, c.events, tt.events)
			require.LessOrEqual(t, c.activities, tt.activities)
			require.Less(t, c.payload, protocol.PayloadLimit)
		})
	}
}

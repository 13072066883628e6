package command

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// touching is a model whose turn has a command that a person is asked about, and an
// answer that tells what became of it.
func touching(t testing.TB) *llmtest.Server {
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
		results := resultsOfTurn(r)
		switch {
		case len(results) == 0:
			return llmtest.Calls(llmtest.Call{Name: "exec", Arguments: `{"command":"touch made && echo ran >> effects.txt"}`})
		case strings.HasPrefix(results[0], "Not run"):
			return llmtest.Text("not done")
		}
		return llmtest.Text("done")
	})
}

const askedAbout = "ask exec *touch*"

func startSlackAsking(t *testing.T, mode string, change ...func(*config.Config, *node.Roles)) *slackNode {
	t.Helper()
	server := slacktest.Start(t)
	ask := func(c *config.Config, _ *node.Roles) { c.Approvals.Rules = []string{askedAbout} }
	return startSlack(t, server, touching(t).URL, mode, append(change, ask)...)
}

// mentioned has Ana ask for what a person is to be asked about.
func mentioned(t *testing.T, server *slacktest.Server) (thread string) {
	t.Helper()
	said := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" touch it")
	require.NoError(t, said.Wait(t.Context()))
	return said.TS
}

// questioned waits until a question with buttons is asked in a thread, or beside
// threads.
func questioned(t *testing.T, server *slacktest.Server, channel, thread string) slacktest.Message {
	t.Helper()
	var question slacktest.Message
	require.Eventually(t, func() bool {
		messages := server.Channel(channel)
		i := slices.IndexFunc(messages, func(m slacktest.Message) bool { return m.ThreadTS == thread && hasButtons(m) })
		if i >= 0 {
			question = messages[i]
		}
		return i >= 0
	}, patience, 10*time.Millisecond)
	require.Contains(t, question.Text, "May I run `exec`?")
	require.Contains(t, question.Text, "touch made &amp;&amp; echo ran")
	return question
}

func hasButtons(m slacktest.Message) bool {
	return strings.Contains(string(m.Blocks), "holdfast_approve")
}

// whispered waits for what a person alone is told.
func whispered(t *testing.T, server *slacktest.Server, user, text string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(server.Ephemeral(slacktest.General), func(m slacktest.Message) bool {
			return m.Recipient == user && strings.Contains(m.Text, text)
		})
	}, patience, 10*time.Millisecond)
}

// requireAnswered waits for the reply below a question, and checks that there is
// nothing else, and that the question says how it was answered.
func requireAnswered(t *testing.T, server *slacktest.Server, channel, thread, how string, said ...string) {
	t.Helper()
	texts := replies(t, server, channel, thread, len(said)+1)
	require.Equal(t, said, texts[1:])
	requireClosed(t, server, channel, thread, how)
}

// requireClosed waits until a question says how it was answered and has no buttons.
func requireClosed(t *testing.T, server *slacktest.Server, channel, thread, how string) {
	t.Helper()
	require.Eventually(t, func() bool {
		messages := server.Channel(channel)
		return slices.ContainsFunc(messages, func(m slacktest.Message) bool {
			return m.ThreadTS == thread && strings.HasSuffix(m.Text, how) && !hasButtons(m)
		})
	}, patience, 10*time.Millisecond)
}

func requireRan(t *testing.T, workspace, want string) {
	t.Helper()
	effects, err := os.ReadFile(filepath.Join(workspace, "effects.txt"))
	if want == "" {
		require.ErrorIs(t, err, os.ErrNotExist)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, string(effects))
}

func TestSlackApproval(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
		t.Run("by clicks over "+mode, func(t *testing.T) {
			t.Parallel()
			n := startSlackAsking(t, mode)
			thread := mentioned(t, n.slack)
			question := questioned(t, n.slack, slacktest.General, thread)
			click := func(user, action string) slacktest.Delivery {
				d := n.slack.Click(user, slacktest.General, question.TS, action, "")
				require.NoError(t, d.Wait(t.Context()))
				return d
			}

			click(slacktest.Ben, "holdfast_approve")
			whispered(t, n.slack, slacktest.Ben, "You may not answer this: the person who asked for the work may.")
			require.True(t, hasButtons(n.slack.Message(slacktest.General, question.TS)), "who asked still can")
			requireRan(t, n.cfg.Workspace, "")

			approved := click(slacktest.Ana, "holdfast_approve")
			for range 2 {
				require.NoError(t, n.slack.Redeliver(approved.Events[0].ID).Wait(t.Context()))
			}
			requireAnswered(t, n.slack, slacktest.General, thread, "Approved by <@"+slacktest.Ana+">", "done")

			click(slacktest.Ana, "holdfast_deny")
			whispered(t, n.slack, slacktest.Ana, "Already approved by <@"+slacktest.Ana+">.")
			awaitRest(t, n.client, slackSession(slacktest.General, thread))
			require.Len(t, n.slack.Thread(slacktest.General, thread), 3, "a mention, a question, a reply")
			require.Len(t, n.slack.Ephemeral(slacktest.General), 2)
			requireRan(t, n.cfg.Workspace, "ran\n")
		})
	}

	t.Run("denied by an approver", func(t *testing.T) {
		t.Parallel()
		n := startSlackAsking(t, slack.ModeSocket, func(c *config.Config, _ *node.Roles) { c.Approvals.Approvers = []string{"slack:" + slacktest.Ben} })
		thread := mentioned(t, n.slack)
		question := questioned(t, n.slack, slacktest.General, thread)
		require.Contains(t, question.Text, "Who may answer: <@"+slacktest.Ben+">")
		require.NoError(t, n.slack.Click(slacktest.Ana, slacktest.General, question.TS, "holdfast_approve", "").Wait(t.Context()))
		whispered(t, n.slack, slacktest.Ana, "You may not answer this: <@"+slacktest.Ben+"> may.")
		require.NoError(t, n.slack.Click(slacktest.Ben, slacktest.General, question.TS, "holdfast_deny", "").Wait(t.Context()))
		requireAnswered(t, n.slack, slacktest.General, thread, "Denied by <@"+slacktest.Ben+">", "not done")
		requireRan(t, n.cfg.Workspace, "")
	})

	t.Run("in words", func(t *testing.T) {
		t.Parallel()
		n := startSlackAsking(t, slack.ModeSocket)
		for _, say := range []func(thread, id string) slacktest.Delivery{
			func(thread, _ string) slacktest.Delivery {
				return n.slack.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" approve", slacktest.InThread(thread))
			},
			func(thread, id string) slacktest.Delivery {
				return n.slack.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" approve "+id, slacktest.InThread(thread))
			},
			func(_, id string) slacktest.Delivery {
				return n.slack.Slash(slacktest.Ana, slacktest.General, "/holdfast", "approve "+id)
			},
			func(string, string) slacktest.Delivery {
				return n.slack.Slash(slacktest.Ana, slacktest.General, "/holdfast", "approve")
			},
		} {
			thread := mentioned(t, n.slack)
			question := questioned(t, n.slack, slacktest.General, thread)
			require.NoError(t, say(thread, questionOf(t, question)).Wait(t.Context()))
			said := replies(t, n.slack, slacktest.General, thread, 3)
			require.ElementsMatch(t, []string{"Approved. `exec`: touch made &amp;&amp; echo ran &gt;&gt; effects.txt", "done"}, said[1:])
			awaitRest(t, n.client, slackSession(slacktest.General, thread))
		}
		requireRan(t, n.cfg.Workspace, strings.Repeat("ran\n", 4))

		require.NoError(t, n.slack.Say(slacktest.Ana, slacktest.DM, "touch it").Wait(t.Context()))
		question := questioned(t, n.slack, slacktest.DM, "")
		require.NoError(t, n.slack.Slash(slacktest.Ana, slacktest.DM, "/holdfast", "deny "+questionOf(t, question)).Wait(t.Context()))
		require.Contains(t, replies(t, n.slack, slacktest.DM, "", 3), "not done")
		requireClosed(t, n.slack, slacktest.DM, "", "Denied by <@"+slacktest.Ana+">")
		requireRan(t, n.cfg.Workspace, strings.Repeat("ran\n", 4))
	})
}

// questionOf is the ID of a question.
func questionOf(t *testing.T, m slacktest.Message) string {
	t.Helper()
	_, id, found := strings.Cut(string(m.Metadata.EventPayload), `"approval":"`)
	require.True(t, found, string(m.Metadata.EventPayload))
	return id[:8]
}

// TestSlackApprovalRestart stops the real program while a question waits, or has it
// die around it: a click delivered three times, before and after, is one answer.
func TestSlackApprovalRestart(t *testing.T) {
	t.Parallel()
	cases := map[string]func(*testing.T){}
	for name, tt := range map[string]struct {
		mode   string
		before string // the failpoint that the first process dies at; empty: it is killed
		click  bool   // that is reached only once the question is answered
	}{
		"while it waits":           {mode: slack.ModeSocket},
		"while it waits over http": {mode: slack.ModeHTTP},
		"before it is posted":      {mode: slack.ModeSocket, before: "deliver.claimed:1"},
		"after it is posted":       {mode: slack.ModeSocket, before: "deliver.sent:1"},
		"when it is answered":      {mode: slack.ModeSocket, before: "approval.decided:1", click: true},
	} {
		cases[name] = func(t *testing.T) {
			server := slacktest.Start(t, retries)
			model := touching(t)
			h := newSlackHome(t, model.URL, server, tt.mode)
			h.environ = append(h.environ, "HOLDFAST_APPROVALS_RULES="+askedAbout)
			var environ []string
			if tt.before != "" {
				environ = append(environ, dieAt(tt.before))
			}
			first := h.start(t, environ...)
			h.connected(t)
			thread := mentioned(t, server)
			var question slacktest.Message
			var click slacktest.Delivery
			if tt.before == "" || tt.click {
				question = questioned(t, server, slacktest.General, thread)
				if tt.click {
					click = server.Click(slacktest.Ana, slacktest.General, question.TS, "holdfast_approve", "")
				}
			}
			if tt.before == "" {
				first.kill()
			}
			first.awaitExit(t)
			second := h.start(t)
			h.connected(t)
			if !tt.click { // the second process may have shown an answer that the first one took
				question = questioned(t, server, slacktest.General, thread)
				requireRan(t, h.workspace(""), "")
				click = server.Click(slacktest.Ana, slacktest.General, question.TS, "holdfast_approve", "")
				require.NoError(t, click.Wait(t.Context()))
			}
			for range 2 {
				require.NoError(t, server.Redeliver(click.Events[0].ID).Wait(t.Context()))
			}
			said := replies(t, server, slacktest.General, thread, 2)
			require.Equal(t, "done", said[1])
			awaitRest(t, second.temporal(t), slackSession(slacktest.General, thread))
			if tt.click { // nobody was there to show it: the next click is
				require.NoError(t, server.Click(slacktest.Ana, slacktest.General, question.TS, "holdfast_approve", "").Wait(t.Context()))
			}
			requireAnswered(t, server, slacktest.General, thread, "Approved by <@"+slacktest.Ana+">", "done")
			h.requireOnceRan(t)
			require.Len(t, server.Thread(slacktest.General, thread), 3)
			require.Equal(t, 2, model.Count())
			require.Empty(t, model.Invalid())
		}
	}
	sideBySide(t, cases)
}

package command

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm/llmtest"
)

// heard is a model that answers with what the user said last.
func heard(t testing.TB) *llmtest.Server {
	return llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step { return llmtest.Text("heard: " + topic(r)) })
}

// TestSlackRedelivery delivers each event three times, before and after a restart.
func TestSlackRedelivery(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server := slacktest.Start(t, retries)
			model := heard(t)
			h := newSlackHome(t, model.URL, server, mode)
			first := h.start(t)
			h.connected(t)
			asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" one")
			require.Len(t, asked.Events, 2, "the message, and the mention")
			again := func() {
				for _, event := range asked.Events {
					require.NoError(t, server.Redeliver(event.ID).Wait(t.Context()))
				}
			}
			again()
			require.Equal(t, []string{"heard: one"}, replies(t, server, slacktest.General, asked.TS, 1))
			again()
			first.kill()
			second := h.start(t)
			h.connected(t)
			again()
			// A thread is known after a restart: no mention is needed.
			follow := server.Say(slacktest.Ben, slacktest.General, "two", slacktest.InThread(asked.TS))
			require.NoError(t, follow.Wait(t.Context()))
			replies(t, server, slacktest.General, asked.TS, 2)
			again()
			awaitRest(t, second.temporal(t), slackSession(slacktest.General, asked.TS))
			requireOnly(t, server, slacktest.General, asked.TS, "heard: one", "heard: two")
			require.Equal(t, 2, model.Count())
		})
	}
}

func TestSlackQuickMessages(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			hold := make(chan struct{})
			server := slacktest.Start(t)
			model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
				step := llmtest.Text("heard: " + topic(r))
				if r.Number == 1 {
					return step.After(hold)
				}
				return step
			})
			n := startSlack(t, server, model.URL, mode)
			asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" message 0")
			require.NoError(t, asked.Wait(t.Context()))
			require.NoError(t, model.Await(t.Context(), 1))
			for i, who := range []string{slacktest.Ana, slacktest.Ben, slacktest.Ana, slacktest.Ana} {
				said := server.Say(who, slacktest.General, fmt.Sprintf("message %d", i+1), slacktest.InThread(asked.TS))
				require.NoError(t, said.Wait(t.Context()))
			}
			close(hold)
			session := slackSession(slacktest.General, asked.TS)
			require.Eventually(t, func() bool {
				said := finished(server, slacktest.General, asked.TS)
				return len(said) > 0 && said[len(said)-1] == "heard: message 4"
			}, patience, 10*time.Millisecond)
			awaitRest(t, n.client, session)
			var took []string
			requests := model.Requests()
			for _, m := range requests[len(requests)-1].Messages {
				if domain.Role(m.Role) != domain.RoleUser {
					continue
				}
				for line := range strings.Lines(m.Content.Text) {
					if strings.HasPrefix(line, "message ") {
						took = append(took, strings.TrimSpace(line))
					}
				}
			}
			require.Equal(t, []string{"message 0", "message 1", "message 2", "message 3", "message 4"}, took)
			require.Empty(t, model.Invalid())
		})
	}
}

// TestSlackCommandsRedelivered has /new and a button's stop delivered again, after
// a restart, when they would harm: they have one effect.
func TestSlackCommandsRedelivered(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			server := slacktest.Start(t, retries)
			release := make(chan struct{})
			model := llmtest.NewFunc(t, func(r llmtest.Request) llmtest.Step {
				switch topic(r) {
				case "hang":
					return llmtest.Hang()
				case "wait":
					return llmtest.Text("not stopped").After(release)
				}
				return llmtest.Text(fmt.Sprintf("%d messages", len(r.Messages)))
			})
			h := newSlackHome(t, model.URL, server, mode)
			p := h.start(t)
			h.connected(t)
			count := 0
			say := func(text string) slacktest.Delivery {
				said := server.Say(slacktest.Ana, slacktest.DM, text)
				require.NoError(t, said.Wait(t.Context()))
				return said
			}
			hear := func(want string) {
				count++
				said := replies(t, server, slacktest.DM, "", count)
				require.Equal(t, want, said[count-1])
			}
			again := func(d slacktest.Delivery) {
				p.kill()
				p = h.start(t)
				h.connected(t)
				require.NoError(t, server.Redeliver(d.Events[0].ID).Wait(t.Context()))
			}
			say("one")
			hear("2 messages")
			fresh := say("/new")
			hear("New conversation.")
			say("two")
			hear("2 messages")
			again(fresh)
			say("three")
			hear("4 messages")

			say("hang")
			draft := awaitDraft(t, server, slacktest.DM, "")
			click := server.Click(slacktest.Ana, slacktest.DM, draft.TS, "holdfast_stop", "")
			require.NoError(t, click.Wait(t.Context()))
			hear("Stopped.")
			waiting := say("wait")
			draft = awaitDraft(t, server, slacktest.DM, waiting.TS)
			h.awaitRecorded(t, slacktest.DM, waiting.TS)
			again(click)
			close(release)
			hear("not stopped")
			awaitRest(t, p.temporal(t), slackSession(slacktest.DM, ""))
			requireOnly(t, server, slacktest.DM, "", finished(server, slacktest.DM, "")...)
			require.Len(t, finished(server, slacktest.DM, ""), count)
			require.Equal(t, draft.TS, last(server.Channel(slacktest.DM)).TS, "the draft became the reply")
		})
	}
}

func last(messages []slacktest.Message) slacktest.Message { return messages[len(messages)-1] }

// awaitDraft waits until a draft is shown in a chat after the message with a timestamp, if any.
func awaitDraft(t testing.TB, server *slacktest.Server, channel, after string) slacktest.Message {
	t.Helper()
	var draft slacktest.Message
	require.Eventually(t, func() bool {
		messages := server.Channel(channel)
		i := slices.IndexFunc(messages, func(m slacktest.Message) bool { return isDraft(m) && m.TS > after })
		if i >= 0 {
			draft = messages[i]
		}
		return i >= 0
	}, patience, 10*time.Millisecond)
	return draft
}

// TestSlackForgeries sends forged requests, which are rejected without effect.
// The same signed request twice is one message.
func TestSlackForgeries(t *testing.T) {
	t.Parallel()
	server := slacktest.Start(t)
	model := heard(t)
	n := startSlack(t, server, model.URL, slack.ModeHTTP)
	asked := server.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" one")
	require.NoError(t, asked.Wait(t.Context()))
	n.replies(t, slacktest.General, asked.TS, 1)

	genuine := string(asked.Events[0].Payload)
	other := strings.ReplaceAll(genuine, asked.TS, "1700000000.000100")
	click := `payload=` + `{"type":"block_actions","user":{"id":"U0ANA","team_id":"T0TEAM"},"team":{"id":"T0TEAM"},"channel":{"id":"C0GENERAL"},` +
		`"message":{"ts":"` + asked.TS + `"},"actions":[{"action_id":"holdfast_stop","value":"` + asked.TS + `","action_ts":"1700000000.000200"}]}`
	const form, events = "application/x-www-form-urlencoded", "application/json"
	for name, tt := range map[string]struct {
		secret, kind, body string
		at                 time.Time
		status             int
	}{
		"a bad signature":   {"guessed", events, other, time.Now(), http.StatusUnauthorized},
		"a stale timestamp": {slacktest.SigningSecret, events, other, time.Now().Add(-6 * time.Minute), http.StatusUnauthorized},
		"a forged button":   {"guessed", form, click, time.Now(), http.StatusUnauthorized},
		"a replay":          {slacktest.SigningSecret, events, genuine, time.Now(), http.StatusOK},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.events, strings.NewReader(tt.body))
		require.NoError(t, err)
		request.Header = slacktest.Sign(tt.secret, tt.at, []byte(tt.body))
		request.Header.Set("Content-Type", tt.kind)
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, tt.status, response.StatusCode, name)
	}
	n.closedCost(t, slackSession(slacktest.General, asked.TS))
	requireOnly(t, server, slacktest.General, asked.TS, "heard: one")
	require.Equal(t, 1, model.Count())
	waiting, err := n.store.Unanswered(t.Context(), slack.Name, 10)
	require.NoError(t, err)
	require.Empty(t, waiting)
}

package slack_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// clickOn is the payload of a click on a button of a message in General.
func clickOn(action string, change map[string]any) map[string]any {
	payload := map[string]any{
		"type": "block_actions", "team": map[string]any{"id": slacktest.Team}, "user": map[string]any{"id": slacktest.Ana},
		"channel": map[string]any{"id": slacktest.General}, "message": map[string]any{"ts": ts(2), "thread_ts": ts(1)},
		"actions": []any{map[string]any{"action_id": action, "block_id": "b", "value": ts(1), "action_ts": ts(9)}},
	}
	maps.Copy(payload, change)
	return payload
}

func stopMessage(id, chat, thread string) domain.Inbound {
	return domain.Inbound{Channel: "slack", Scope: chat, PlatformID: id, Chat: chat, Thread: thread, Sender: slacktest.Ana, Text: "/stop", Push: true}
}

func TestTheStopButton(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{})
		for range 3 {
			r.acked(r.Send(slacktest.Interactive, clickOn("holdfast_stop", nil)))
		}
		require.Equal(t, []domain.Inbound{stopMessage("stop-"+ts(9)+"-"+slacktest.Ana, generalChat, ts(1))}, r.backend.Accepted())

		// In a direct message that is no thread the button has no value.
		r.acked(r.Send(slacktest.Interactive, clickOn("holdfast_stop", map[string]any{
			"channel": map[string]any{"id": slacktest.DM}, "message": map[string]any{"ts": ts(5)},
			"actions": []any{map[string]any{"action_id": "holdfast_stop", "action_ts": ts(10)}},
		})))
		require.Equal(t, stopMessage("stop-"+ts(10)+"-"+slacktest.Ana, dmChat, ""), r.accepted(2))
	})
}

func TestTheStopShortcut(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{})
		root := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi")).TS
		reply := r.acked(r.Say(slacktest.Ana, slacktest.General, "and", slacktest.InThread(root))).TS
		d := r.acked(r.Shortcut(slacktest.Ana, slacktest.General, reply, "holdfast_stop"))
		require.Equal(t, root, r.accepted(2).Thread)
		require.Equal(t, "/stop", r.accepted(2).Text)
		r.acked(r.Send(slacktest.Interactive, d.Events[0].Payload))
		r.acked(r.Shortcut(slacktest.Ana, slacktest.General, root, "holdfast_stop"))
		require.Equal(t, root, r.accepted(3).Thread)
		require.Len(t, r.backend.Accepted(), 3)

		// The message that opened a thread in a direct message is not in it.
		first := r.acked(r.Say(slacktest.Ana, slacktest.DM, "hi")).TS
		second := r.acked(r.Say(slacktest.Ana, slacktest.DM, "ho", slacktest.InThread(first))).TS
		r.acked(r.Shortcut(slacktest.Ana, slacktest.DM, first, "holdfast_stop"))
		require.Empty(t, r.accepted(6).Thread)
		r.acked(r.Shortcut(slacktest.Ana, slacktest.DM, second, "holdfast_stop"))
		require.Equal(t, first, r.accepted(7).Thread)
	})
}

func TestClicksWithoutEffect(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{slack: hasty})
	for _, payload := range []map[string]any{
		clickOn("tea", nil),
		clickOn("holdfast_stop", map[string]any{"actions": nil}),
		clickOn("holdfast_stop", map[string]any{"type": "view_submission"}),
		clickOn("holdfast_stop", map[string]any{"type": "message_action", "callback_id": "tea", "action_ts": ts(1)}),
		clickOn("holdfast_stop", map[string]any{"user": map[string]any{"id": slacktest.Ben}}),
		clickOn("holdfast_stop", map[string]any{"channel": map[string]any{"id": slacktest.Secret}}),
	} {
		r.acked(r.Send(slacktest.Interactive, payload))
	}
	require.NoError(t, r.Await(r.ctx, func() bool { return len(r.Calls("chat.postEphemeral")) == 2 }), "two are told why")
	require.Empty(t, r.backend.Accepted())

	r.backend.FailAccept(1)
	d := r.Send(slacktest.Interactive, clickOn("holdfast_stop", nil))
	require.ErrorIs(t, d.Wait(r.ctx), slacktest.ErrNotAcknowledged)
}

// Edge case E23: a click that nobody made.
func TestAForgedClick(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeHTTP, receivingSetup{})
	payload, err := json.Marshal(clickOn("holdfast_stop", nil))
	require.NoError(t, err)
	body := []byte(url.Values{"payload": {string(payload)}}.Encode())
	form := func(header http.Header) http.Header {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
		return header
	}
	for _, header := range []http.Header{{}, slacktest.Sign("guessed", time.Now(), body), slacktest.Sign(slacktest.SigningSecret, time.Now(), append(body, 'x'))} {
		status, _ := r.post(body, form(header))
		require.Equal(t, 401, status)
	}
	require.Empty(t, r.backend.Accepted())
	status, _ := r.post(body, form(slacktest.Sign(slacktest.SigningSecret, time.Now(), body)))
	require.Equal(t, 200, status)
	require.Len(t, r.backend.Accepted(), 1)
}

func TestSlashCommands(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{answer: channeltest.Hold, options: slack.Options{AllowUsers: []string{slacktest.Ana, slacktest.Ben}}})
		say := func(user, channel, text string) string {
			var answer struct {
				Type string `json:"response_type"`
				Text string
			}
			if response := r.acked(r.Slash(user, channel, "/holdfast", text)).Events[0].Response(); len(response) > 0 {
				require.NoError(t, json.Unmarshal(response, &answer))
				require.Equal(t, "ephemeral", answer.Type)
			}
			return answer.Text
		}
		for _, text := range []string{"", "help", "tea, please"} {
			require.Contains(t, say(slacktest.Ana, slacktest.General, text), "/holdfast status")
		}
		require.Contains(t, say(slacktest.Ana, slacktest.General, "status"), "not working on anything")
		require.Contains(t, say(slacktest.Ana, slacktest.General, "stop"), "not working on anything that you asked")
		require.Contains(t, say(slacktest.Ana, slacktest.General, "new"), "Each thread is a separate conversation")
		require.Contains(t, say(slacktest.Ana, slacktest.General, "usage"), "mention me in it with `/usage`")
		require.Contains(t, say(slacktest.Ana, slacktest.General, "/model a/b"), "mention me in it with `/model a/b`")
		require.Contains(t, say(slacktest.Ana, slacktest.DM, "status"), "not working on anything")
		require.Empty(t, r.backend.Accepted())

		one := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" first <https://a.example|a> &lt;b&gt;")).TS
		two := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" second")).TS
		r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" more", slacktest.InThread(two)))
		r.acked(r.Say(slacktest.Ben, slacktest.General, slacktest.Mention+" third"))
		r.acked(r.Say(slacktest.Ana, slacktest.DM, "elsewhere"))

		status := say(slacktest.Ben, slacktest.General, " STATUS ")
		require.Contains(t, status, "<@"+slacktest.Ana+">")
		require.Contains(t, status, "first [a](https://a.example) &lt;b&gt;")
		require.Contains(t, status, "third")
		require.NotContains(t, status, "elsewhere")
		require.Contains(t, say(slacktest.Ana, slacktest.General, "stop"), "in 2 threads")
		stops := r.backend.Accepted()[5:]
		require.Len(t, stops, 2)
		require.ElementsMatch(t, []string{one, two}, []string{stops[0].Thread, stops[1].Thread})
		require.NotContains(t, say(slacktest.Ben, slacktest.General, "status"), "/stop")

		// In a direct message it is a command of the conversation, whose reply is a message.
		require.Empty(t, say(slacktest.Ana, slacktest.DM, "new"))
		got := r.accepted(8)
		require.Equal(t, "/new", got.Text)
		require.Equal(t, dmChat, got.Chat)
		require.Empty(t, got.Thread)
		require.Empty(t, say(slacktest.Ana, slacktest.DM, "Model a/B"))
		require.Equal(t, "/model a/B", r.accepted(9).Text)

		// In a thread a word alone is one, too.
		r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" Usage", slacktest.InThread(two)))
		require.Equal(t, "/usage", r.accepted(10).Text)
	})
}

func TestSlashCommandsAreForThoseAllowed(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{})
		answer := func(d slacktest.Delivery) string { return string(r.acked(d).Events[0].Response()) }
		require.Contains(t, answer(r.Slash(slacktest.Ben, slacktest.General, "/holdfast", "status")), "allow_users")
		require.Contains(t, answer(r.Slash(slacktest.Ana, slacktest.Secret, "/holdfast", "status")), "allow_channels")
		require.Contains(t, answer(r.Slash(slacktest.Ben, slacktest.DM, "/holdfast", "status")), "pairing approve PAIR-"+slacktest.Ben)
		require.Empty(t, r.backend.Accepted())
	})
}

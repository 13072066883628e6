package slack_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
)

// deliveries are what Slack delivers, by the type of its envelope.
var deliveries = []struct{ kind, payload string }{
	{slacktest.EventsAPI, directMessage},
	{slacktest.EventsAPI, `{"type":"event_callback","team_id":"T0TEAM","authorizations":[{"team_id":"T0TEAM","is_bot":true}],"event":{"type":"app_mention","user":"U0ANA","text":"<@U0BOT> look <https://a.example|a> &amp;","ts":"1700000001.000100","thread_ts":"1700000000.000100","channel":"C0GENERAL","files":[{"id":"F1","name":"a","mimetype":"text/plain","size":3,"url_private":"https://a.example"}],"attachments":[{"is_share":true,"author_name":"Ben","text":"said","files":[{"id":"F2"}]}],"edited":null}}`},
	{slacktest.EventsAPI, `{"type":"event_callback","team_id":"T0TEAM","event":{"type":"message","subtype":"bot_message","bot_id":"B0GOOD","text":"","ts":"1700000002.000100","channel":"C0GENERAL","attachments":[{"title":"t","fields":[{"title":"a","value":"b"}]}]}}`},
	{slacktest.EventsAPI, `{"type":"url_verification","challenge":"x"}`},
	{slacktest.Interactive, `{"type":"block_actions","team":{"id":"T0TEAM"},"user":{"id":"U0ANA"},"channel":{"id":"C0GENERAL"},"message":{"ts":"1.1","thread_ts":"1.0"},"actions":[{"action_id":"holdfast_stop","value":"1.0","action_ts":"1.2"}]}`},
	{slacktest.Interactive, `{"type":"message_action","callback_id":"holdfast_stop","action_ts":"1.3","team":{"id":"T0TEAM"},"user":{"id":"U0ANA"},"channel":{"id":"D0ANA"},"message":{"ts":"1.1"}}`},
	{slacktest.Commands, `{"command":"/holdfast","text":"stop","channel_id":"C0GENERAL","user_id":"U0ANA","team_id":"T0TEAM","trigger_id":"1.2.3"}`},
	{slacktest.Commands, `{"command":"/holdfast","text":"new","channel_id":"D0ANA","user_id":"U0ANA","team_id":"T0TEAM","trigger_id":"1.2.4"}`},
}

func offline(t testing.TB) *slack.Channel {
	t.Helper()
	channel, err := slack.New(slack.Options{
		BotToken: slacktest.BotToken, APIURL: "http://127.0.0.1:1", AllowUsers: []string{slacktest.Ana}, AllowChannels: []string{"*"},
		AllowBots: []string{"B0GOOD"}, Respond: chat.RespondThread,
	})
	require.NoError(t, err)
	return channel
}

var self = slack.Identity{TeamID: slacktest.Team, UserID: slacktest.BotUser, BotID: slacktest.Bot}

func FuzzTake(f *testing.F) {
	for _, d := range deliveries {
		f.Add(d.kind, []byte(d.payload))
	}
	channel := offline(f)
	f.Fuzz(func(t *testing.T, kind string, payload []byte) {
		backend := channeltest.NewBackend(nil)
		var first error
		for i := range 2 {
			panicked, err := channel.Take(t.Context(), backend, self, kind, payload)
			require.False(t, panicked, "%v", err)
			if i == 0 {
				first = err
			}
			require.Equal(t, first == nil, err == nil, "the same delivery twice")
		}
		for _, msg := range backend.Accepted() {
			require.Equal(t, slack.Name, msg.Channel)
			require.NotEmpty(t, msg.PlatformID)
			require.NotEmpty(t, msg.Sender)
			require.True(t, msg.Push)
			require.True(t, msg.Text != "" || len(msg.Files) > 0)
		}
		require.LessOrEqual(t, len(backend.Accepted()), 1+len(payload)/20)
	})
}

func TestThousandMutatedPayloads(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	channel := offline(t)
	backend := channeltest.NewBackend(nil)
	for range 1_000 {
		d := deliveries[random.IntN(len(deliveries))]
		panicked, err := channel.Take(t.Context(), backend, self, d.kind, mutated(random, d.payload))
		require.False(t, panicked, "%v", err)
	}
	for _, d := range deliveries {
		_, err := channel.Take(t.Context(), backend, self, d.kind, []byte(d.payload))
		require.NoError(t, err, d.payload)
	}
	require.GreaterOrEqual(t, len(backend.Accepted()), 5)
}

// What is malformed neither ends a transport nor holds up what comes after it.
func TestMutatedPayloadsOverBothTransports(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{slack: []slacktest.Option{slacktest.RetryDelays(10*time.Millisecond, time.Second)}})
		random := rand.New(rand.NewPCG(3, 4))
		for i := range 1_000 {
			d := deliveries[random.IntN(len(deliveries))]
			if i%2 == 0 && mode == slack.ModeSocket {
				frame, err := json.Marshal(map[string]any{"type": d.kind, "envelope_id": "x", "payload": json.RawMessage(d.payload)})
				require.NoError(t, err)
				r.SendFrame(string(mutated(random, string(frame))))
				continue
			}
			body := mutated(random, d.payload)
			if mode == slack.ModeSocket {
				r.SendFrame(`{"type":"` + d.kind + `","envelope_id":"x","payload":` + string(body) + `}`)
				continue
			}
			header := slacktest.Sign(slacktest.SigningSecret, time.Now(), body)
			header.Set("Content-Type", []string{"application/json", "application/x-www-form-urlencoded"}[i%2])
			status, _ := r.post(body, header)
			require.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, status, "%s", body)
		}
		r.acked(r.Say(slacktest.Ana, slacktest.DM, "still there?"))
		require.Zero(t, r.log.count("panic"))
	})
}

// mutated is a text with a few bytes and words of it changed.
func mutated(random *rand.Rand, text string) []byte {
	out := []byte(text)
	words := []string{"null", "{}", "[]", `""`, "-1", "1e999", `"\u0000"`, "\xff", `"`, "<@U0BOT>", "true", ","}
	for range 1 + random.IntN(4) {
		at := random.IntN(len(out) + 1)
		switch random.IntN(4) {
		case 0:
			out = out[:at]
		case 1:
			out = append(out[:at:at], append([]byte(words[random.IntN(len(words))]), out[at:]...)...)
		case 2:
			end := min(len(out), at+random.IntN(12))
			out = append(out[:at:at], out[end:]...)
		default:
			if at < len(out) {
				out[at] = byte(random.IntN(256))
			}
		}
	}
	return out
}

package telegram_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	const ok, warn, fail = chat.LevelOK, chat.LevelWarn, chat.LevelFail
	set := func(address string) func(*bot) {
		return func(b *bot) {
			response, err := http.Get(b.URL() + "/bot" + telegramtest.Token + "/setWebhook?url=" + address)
			require.NoError(b.t, err)
			require.NoError(b.t, response.Body.Close())
		}
	}
	for name, test := range map[string]struct {
		mode    string
		respond string
		prepare func(*bot)
		level   chat.Level
		text    string
		fix     string
	}{
		"all is well":        {text: "connected as @holdfast_bot (100001), mode polling", level: ok},
		"a wrong token":      {prepare: func(b *bot) { b.options.Token = "1:wrong" }, text: "unknown token", fix: "@BotFather", level: fail},
		"privacy mode":       {respond: telegram.RespondAll, text: "privacy mode is on", fix: "/setprivacy", level: warn},
		"a webhook":          {prepare: set("https://b.example/secret"), text: "a webhook is set at https://b.example, although", fix: "removed at the start", level: warn},
		"no webhook yet":     {mode: telegram.ModeWebhook, text: "no webhook is set yet", level: ok},
		"another webhook":    {mode: telegram.ModeWebhook, prepare: set("https://b.example/secret"), text: "is set at https://b.example, which is not", fix: "moved at the start", level: warn},
		"Telegram is away":   {prepare: func(b *bot) { b.Down() }, text: "does not answer like Telegram", fix: "https to api.telegram.org", level: fail},
		"a proxy":            {prepare: func(b *bot) { b.Fail("getMe", 1, telegramtest.Fault{Status: 403, Body: "no"}) }, text: "answers in its place", fix: "proxy", level: fail},
		"flood control":      {prepare: func(b *bot) { b.TooMany("getMe", 1, 30) }, text: "rate limited", fix: "wait", level: warn},
		"nobody is answered": {prepare: func(b *bot) { b.options.Users, b.options.Chats = nil, nil }, text: "allow_users and allow_groups are empty", fix: "user_id", level: warn},
		"a webhook that does not work": {mode: telegram.ModeWebhook, prepare: func(b *bot) {
			set(b.options.WebhookURL)(b) // nothing listens
			require.NoError(b.t, b.Await(b.ctx, func() bool { return b.WebhookFailure() != "" }))
		}, text: "could not deliver to the webhook", fix: "webhook_url", level: fail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := respond(test.respond)
			o.Mode = test.mode
			if o.Mode == "" {
				o.Mode = telegram.ModePolling
			}
			b := open(t, o)
			b.Say(telegramtest.Ana, telegramtest.Ana, "an update that stays")
			if test.prepare != nil {
				test.prepare(b)
			}
			b.renew()
			var found []chat.Finding
			for _, f := range b.channel.CheckSetup(b.ctx) {
				require.NotContains(t, f.Text+f.Fix, telegramtest.Token)
				require.NotContains(t, f.Text+f.Fix, "/secret")
				require.Equal(t, f.Level == ok, f.Fix == "", f.Text)
				if f.Level == test.level && strings.Contains(f.Text, test.text) {
					found = append(found, f)
				}
			}
			require.Len(t, found, 1)
			require.Contains(t, found[0].Fix, test.fix)
			require.GreaterOrEqual(t, b.Pending(), 1, "nothing is confirmed")
		})
	}
}

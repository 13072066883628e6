package chat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

func TestWhoIsAnswered(t *testing.T) {
	t.Parallel()
	anyone := []string{"*"}
	for name, tt := range map[string]struct {
		access chat.Access
		paired bool
		change func(*chat.Post)
		want   bool
	}{
		"nobody by default":           {chat.Access{}, false, direct, false},
		"a listed user, directly":     {chat.Access{Users: []string{"ana"}}, false, direct, true},
		"a listed user, elsewhere":    {chat.Access{Users: []string{"ana"}}, false, nil, false},
		"a listed user and chat":      {chat.Access{Users: []string{"ana"}, Chats: []string{"ops"}}, false, nil, true},
		"a listed chat only":          {chat.Access{Chats: []string{"ops"}}, false, nil, false},
		"the chat with its workspace": {chat.Access{Users: anyone, Chats: []string{"team/ops"}}, false, nil, false},
		"anyone":                      {chat.Access{Users: anyone, Chats: anyone}, false, nil, true},
		"a paired user":               {chat.Access{}, true, direct, true},
		"a paired user, in a chat":    {chat.Access{Chats: []string{"ops"}}, true, nil, true},
		"a bot":                       {chat.Access{Users: anyone, Chats: anyone}, false, func(p *chat.Post) { p.Bot = true }, false},
		"a listed bot":                {chat.Access{Chats: anyone, Bots: []string{"B1"}}, false, func(p *chat.Post) { p.Bot, p.BotIDs = true, []string{"", "B1"} }, true},
		"no bot without an ID":        {chat.Access{Chats: anyone, Bots: []string{""}}, false, func(p *chat.Post) { p.Bot, p.BotIDs = true, []string{""} }, false},
		"ourselves":                   {chat.Access{Users: anyone, Chats: anyone}, false, func(p *chat.Post) { p.Own = true }, false},
		"nothing":                     {chat.Access{Users: anyone, Chats: anyone}, false, func(p *chat.Post) { p.Text = "" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options()
			o.Access = tt.access
			r := run(t, o, channeltest.NewBackend(nil), asIs)
			if tt.paired {
				r.backend.Approve("fake", "ana")
			}
			require.NoError(t, r.post(tt.change), "acknowledged in any case")
			require.Equal(t, tt.want, len(r.backend.Accepted()) == 1)
		})
	}
}

func TestRejectedSendersAreNotified(t *testing.T) {
	t.Parallel()
	ben := func(p *chat.Post) { p.Sender, p.Thread = "ben", "t1" }
	whisper := func(p *plain) chat.Platform { return whisperer{p} }
	until := func(r *running, n int) []told {
		require.Eventually(r.t, func() bool { return len(r.plain.all()) == n }, deadline, tick)
		return r.plain.all()
	}

	t.Run("alone if possible, and once", func(t *testing.T) {
		t.Parallel()
		r := run(t, options(), channeltest.NewBackend(nil), whisper)
		for range 3 {
			require.NoError(t, r.post(ben))
		}
		got := until(r, 1)[0]
		require.Equal(t, "ben", got.person)
		require.NotEmpty(t, got.ReplyTo, "some platforms only take replies")
		require.Equal(t, chat.Place{Chat: "team/ops", Thread: "t1", ReplyTo: got.ReplyTo, Person: "ben"}, got.Place)
		require.Contains(t, got.text, "add `ben` to `channels.fake.allow_users`")
		require.NoError(t, r.post(func(p *chat.Post) { p.Chat = "team/else" }))
		require.Contains(t, until(r, 2)[1].text, "add `else` to `channels.fake.allow_channels`")
		require.NoError(t, r.stop())
		require.Len(t, r.plain.all(), 2)
		require.Empty(t, r.backend.Accepted())
	})

	t.Run("with a code in a direct message", func(t *testing.T) {
		t.Parallel()
		r := run(t, options(), channeltest.NewBackend(nil), asIs)
		require.NoError(t, r.post(func(p *chat.Post) {
			direct(p)
			p.Sender = "ben"
		}))
		require.Contains(t, until(r, 1)[0].text, "holdfast pairing approve PAIR-ben")
		r.backend.Approve("fake", "ben")
		require.NoError(t, r.post(func(p *chat.Post) {
			direct(p)
			p.Sender = "ben"
		}))
		require.Len(t, r.backend.Accepted(), 1)
	})

	t.Run("unless they did not ask us", func(t *testing.T) {
		t.Parallel()
		o := options()
		o.Respond = chat.RespondAll
		r := run(t, o, channeltest.NewBackend(nil), whisper)
		require.NoError(t, r.post(func(p *chat.Post) { p.Sender, p.Mentioned = "ben", false }))
		require.NoError(t, r.stop())
		require.Empty(t, r.plain.all())
	})

	t.Run("the next time, if it failed", func(t *testing.T) {
		t.Parallel()
		r := run(t, options(), channeltest.NewBackend(nil), whisper)
		r.plain.failNext(1)
		require.NoError(t, r.post(ben))
		require.Eventually(t, func() bool { return r.log.has("rejected sender not notified") }, deadline, tick)
		require.NoError(t, r.post(ben))
		until(r, 1)
	})
}

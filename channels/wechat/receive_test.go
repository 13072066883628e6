package wechat_test

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
)

func TestWhatIsReceived(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil).run()
	tests := []struct {
		items []map[string]any
		want  string
	}{
		{[]map[string]any{wechattest.Text("Grüße <b>")}, "Grüße <b>"},
		{[]map[string]any{wechattest.Voice("book a table")}, "book a table"},
		{[]map[string]any{wechattest.Voice("")}, "[a voice message; WeChat sent no transcript of it]"},
		{[]map[string]any{{"type": 1, "text_item": map[string]any{"text": "and this?"}, "ref_msg": map[string]any{"message_item": wechattest.Text("one\ntwo")}}}, "> one\n> two\nand this?"},
		{[]map[string]any{{"type": 1, "text_item": map[string]any{"text": "and this?"}, "ref_msg": map[string]any{"title": "Ana: one"}}}, "> Ana: one\nand this?"},
	}
	for _, tt := range tests {
		s.Say(wechattest.Ana, "", wechattest.Items(tt.items...))
	}
	all := s.accepted(len(tests))
	for i, tt := range tests {
		require.Equal(t, tt.want, all[i].Text)
		require.Equal(t, wechattest.Ana, all[i].Chat)
		require.Equal(t, wechattest.Ana, all[i].Sender)
		require.WithinDuration(t, time.Now(), all[i].SentAt, time.Minute)
	}
	require.Equal(t, "7450000000000000001", all[0].PlatformID, "a number that a float does not hold")
}

func TestWhatIsNotAnswered(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil).run()
	s.Say(wechattest.Ana, "in a group", wechattest.With("group_id", "g1"))
	s.Say(wechattest.Ana, "of a bot", wechattest.With("message_type", 2))
	s.Say(wechattest.BotID, "of ourselves")
	s.Say("stranger@im.wechat", "let me in")
	s.Say(wechattest.Ana, "hi")
	require.Equal(t, "hi", s.accepted(1)[0].Text)
	s.await(func() bool { return len(s.Posts()) == 1 })
	require.Contains(t, s.Posts()[0].Text, "holdfast pairing approve PAIR-stranger@im.wechat")
	require.Equal(t, "stranger@im.wechat", s.Posts()[0].To)
	s.backend.Approve(wechat.Name, "stranger@im.wechat")
	s.Say("stranger@im.wechat", "thanks")
	require.Equal(t, "thanks", s.accepted(2)[1].Text)
}

func TestEachMessageIsAcceptedOnceInOrder(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(nil)
	s := open(t, backend, nil).run()
	backend.FailAccept(1)
	first := s.Say(wechattest.Ana, "one")
	s.Say(wechattest.Ana, "two")
	for range 3 {
		s.Again(first)
	}
	s.accepted(2)
	require.NoError(t, s.stop())

	s.Say(wechattest.Ana, "three") // while we are away
	s.Say(wechattest.Ben, "four")
	again := openAt(t, s.Server, backend, nil).run()
	again.accepted(4)
	again.Fail(wechattest.GetUpdates, 2, faulty.Fault{Status: http.StatusBadGateway})
	again.LoseResponse(wechattest.GetUpdates, 2)
	again.Down()
	again.Say(wechattest.Ana, "five")
	again.Up()
	var texts []string
	for _, msg := range again.accepted(5) {
		if msg.Chat == wechattest.Ana {
			texts = append(texts, msg.Text)
		}
	}
	require.Equal(t, []string{"one", "two", "three", "five"}, texts)
	require.NoError(t, again.stop())
	require.Len(t, backend.Accepted(), 5)
}

func TestTheCursorMovesOnlyAfterAcceptance(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(nil)
	s := open(t, backend, nil).run()
	release := backend.BlockAccept()
	s.Say(wechattest.Ana, "hi")
	require.NoError(t, backend.Await(s.ctx, func(c channeltest.Counts) bool { return c.Calls == 1 }))
	cursor, err := backend.Cursor(s.ctx, wechat.Name, "updates/"+wechattest.BotID)
	require.NoError(t, err)
	require.Empty(t, cursor)
	release()
	s.await(func() bool { return s.Held() == 1 })
	cursor, err = backend.Cursor(s.ctx, wechat.Name, "updates/"+wechattest.BotID)
	require.NoError(t, err)
	require.Equal(t, 1, wechattest.Position(cursor))
}

func TestAnExpiredLogin(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil).run()
	s.await(func() bool { return s.Held() == 1 })
	s.Expire()
	require.Eventually(t, func() bool {
		return s.log.has(`level=ERROR msg="the WeChat login has expired, nothing is received or sent: run ` + "`holdfast wechat login`\"")
	}, deadline, tick)
	account, err := s.channel.Account(s.ctx)
	require.NoError(t, err)
	require.True(t, account.Expired())
	_, err = s.channel.Send(s.ctx, reply("o1", "hi"))
	require.ErrorContains(t, err, "status 503: the WeChat login has expired: run `holdfast wechat login`")

	s.Say(wechattest.Ana, "are you there?")
	s.logInBy(wechattest.Ana)
	require.Equal(t, "are you there?", s.accepted(1)[0].Text)
	require.False(t, s.log.has(s.Token()), "the token is not logged")
}

func TestWithoutALogin(t *testing.T) {
	t.Parallel()
	s := openAt(t, wechattest.Start(t), channeltest.NewBackend(nil), nil).run()
	require.Eventually(t, func() bool { return s.log.has("nobody has logged in to WeChat, nothing is received or sent") }, deadline, tick)
	_, err := s.channel.Send(s.ctx, reply("o1", "hi"))
	require.ErrorContains(t, err, "nobody has logged in to WeChat: run `holdfast wechat login`")
	s.Say(wechattest.Ana, "hi")
	s.logIn()
	s.accepted(1)
}

func TestMalformedMessagesAreSkipped(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil).run()
	random := rand.New(rand.NewPCG(1, 2))
	odd := []any{nil, true, -1, 1e300, "", "x", "\x00", []any{}, map[string]any{}, []any{nil, 1, "x"}, []any{map[string]any{"type": "x"}}, []any{map[string]any{"type": 2, "image_item": 3}}}
	fields := []string{"message_id", "from_user_id", "create_time_ms", "item_list", "context_token", "message_type", "group_id"}
	for i := range 1000 {
		m := map[string]any{"message_id": strconv.Itoa(i), "from_user_id": "x@im.wechat", "item_list": []any{wechattest.Text("x")}, "message_type": 1}
		for range 1 + random.IntN(3) {
			m[fields[random.IntN(len(fields))]] = odd[random.IntN(len(odd))]
		}
		s.Raw(m)
	}
	s.Fail(wechattest.GetUpdates, 1, faulty.Fault{Status: http.StatusOK, Body: `{"msgs": 3}`})
	s.Fail(wechattest.GetUpdates, 1, faulty.Fault{Status: http.StatusOK, Body: `[`})
	s.Say(wechattest.Ana, "hi")
	require.Equal(t, "hi", s.accepted(1)[0].Text)
	require.False(t, s.log.has("panic"))
}

func FuzzMessage(f *testing.F) {
	channel := wechat.New(wechat.Options{})
	f.Add([]byte(`{"message_id":"1","from_user_id":"a","item_list":[{"type":1,"text_item":{"text":"hi"},"ref_msg":{"message_item":{"type":3}}}]}`))
	f.Add([]byte(`{"message_id":7450000000000000001,"from_user_id":"a","item_list":[{"type":2,"image_item":{"aeskey":"00","media":{"full_url":"x"}}},{"type":4,"file_item":{"len":"x"}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		post, err := wechat.Read(channel, raw)
		if err == nil && post != nil {
			require.NotEmpty(t, post.PlatformID)
			require.NotEmpty(t, post.Chat)
		}
		if err != nil {
			require.NotContains(t, err.Error(), "panic")
		}
	})
}

package dingtalk_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/dingtalk"
	"github.com/holdfast-ai/holdfast/channels/dingtalk/dingtalktest"
)

func TestWhatIsReceived(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	require.Contains(t, s.Topics(), "/v1.0/im/bot/messages/get")
	content := func(kind string, content any) []dingtalktest.SayOption {
		return []dingtalktest.SayOption{dingtalktest.With("msgtype", kind), dingtalktest.With("content", content), dingtalktest.With("text", nil)}
	}
	quoted := map[string]any{"content": "and this?", "isReplyMsg": true, "repliedMsg": map[string]any{"msgType": "text", "content": map[string]any{"text": "one\ntwo"}}}
	tests := []struct {
		options []dingtalktest.SayOption
		text    string
		files   int
	}{
		{nil, "Grüße", 0},
		{[]dingtalktest.SayOption{dingtalktest.With("text", quoted)}, "> one\n> two\nand this?", 0},
		{content("richText", map[string]any{"richText": []any{map[string]any{"text": "look: "}, map[string]any{"type": "picture", "downloadCode": "c"}, map[string]any{"text": "nice"}}}), "look: nice", 1},
		{content("audio", map[string]any{"downloadCode": "c", "recognition": "book a table"}), "book a table", 0},
		{content("audio", map[string]any{"downloadCode": "c"}), "[a voice message; DingTalk sent no transcript of it]", 0},
		{content("picture", map[string]any{"downloadCode": "c"}), "", 1},
		{content("file", map[string]any{"downloadCode": "c", "fileName": "notes.txt"}), "", 1},
		{content("interactiveCard", map[string]any{}), `[a message of the type "interactiveCard", which cannot be read]`, 0},
	}
	for i, tt := range tests {
		require.NoError(t, s.Say(dingtalktest.Ana, "Grüße", tt.options...).Wait(s.ctx))
		msg := s.accepted(i + 1)[i]
		require.Equal(t, tt.text, msg.Text)
		require.Len(t, msg.Files, tt.files)
		require.Equal(t, dingtalktest.Ana, msg.Chat, "a person is answered directly")
		require.Equal(t, "Nick of "+dingtalktest.Ana, msg.SenderName)
		require.WithinDuration(t, time.Now(), msg.SentAt, time.Minute)
	}
}

func TestGroupsAndStrangers(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	require.NoError(t, s.Say(dingtalktest.Ana, "hi", dingtalktest.InGroup(dingtalktest.Group)).Wait(s.ctx))
	require.Equal(t, dingtalktest.Group, s.accepted(1)[0].Chat)
	require.NoError(t, s.Say(dingtalktest.Ana, "hi", dingtalktest.InGroup("cidOther")).Wait(s.ctx))
	require.NoError(t, s.Say("stranger", "let me in").Wait(s.ctx))
	require.NoError(t, s.Say(dingtalktest.Ana, "not ours", dingtalktest.With("senderId", "$:LWCP_v1:$robot")).Wait(s.ctx))
	s.await(func() bool { return len(s.Posts()) == 2 })
	said := map[string]string{}
	for _, p := range s.Posts() {
		said[p.To] = p.Text
	}
	require.Contains(t, said["stranger"], "holdfast pairing approve PAIR-stranger")
	require.Contains(t, said["cidOther"], "I don't answer in this group yet. My operator can add `cidOther` to `channels.dingtalk.allow_groups`.")
	require.Len(t, s.backend.Accepted(), 1)
}

func TestAMessageIsAcknowledgedOnceItIsAccepted(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	release := s.backend.BlockAccept()
	d := s.Say(dingtalktest.Ana, "one")
	require.NoError(t, s.backend.Await(s.ctx, func(c channeltest.Counts) bool { return c.Calls == 1 }))
	require.Empty(t, d.Codes())
	release()
	require.NoError(t, d.Wait(s.ctx))

	s.backend.FailAccept(1)
	d = s.Say(dingtalktest.Ana, "two")
	s.accepted(2) // by itself: DingTalk promises no second delivery
	require.ErrorContains(t, d.Wait(s.ctx), "answered with 500")
	for range 3 {
		d.Again()
		require.NoError(t, d.Wait(s.ctx))
	}
	for i := range 20 {
		s.Say(dingtalktest.Ana, strconv.Itoa(i))
	}
	all := s.accepted(22)[2:]
	for i, msg := range all {
		require.Equal(t, strconv.Itoa(i), msg.Text, "in order")
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	s.Send(map[string]any{"type": "SYSTEM", "headers": map[string]any{"topic": "ping", "messageId": "p1"}, "data": `{"opaque":"x1"}`})
	s.await(func() bool { return s.Answer("p1") == `{"opaque":"x1"}` })
	s.Send(map[string]any{"type": "EVENT", "headers": map[string]any{"topic": "*", "messageId": "e1"}, "data": `{}`})
	s.await(func() bool { return s.Answer("e1") == `{"status":"SUCCESS"}` })

	s.Leave(300 * time.Millisecond)
	s.await(func() bool { return s.Connections() == 2 })
	require.NoError(t, s.Say(dingtalktest.Ana, "one").Wait(s.ctx), "both connections are read")
	require.NoError(t, s.Say(dingtalktest.Ana, "two").Wait(s.ctx))
	s.await(func() bool { return s.Connections() == 1 })

	s.Cut()
	s.await(func() bool { return s.Connections() == 0 })
	s.await(func() bool { return s.Connections() == 1 })
	require.NoError(t, s.Say(dingtalktest.Ana, "three").Wait(s.ctx))

	s.Fail(dingtalktest.OpenStream, 1, faulty.Fault{Status: http.StatusServiceUnavailable})
	s.Fail(dingtalktest.Connect, 1, faulty.Fault{Status: http.StatusForbidden})
	s.Down()
	s.Up()
	s.await(func() bool { return s.Connections() == 0 })
	s.await(func() bool { return s.Connections() == 1 })
	require.NoError(t, s.Say(dingtalktest.Ana, "four").Wait(s.ctx))
	require.Len(t, s.backend.Accepted(), 4)
	require.False(t, s.log.has(dingtalktest.ClientSecret))
	require.False(t, s.log.has("ticket-"))
}

func TestASilentConnectionIsGivenUp(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	dingtalk.SetPace(s.channel, fast, 300*time.Millisecond)
	s.run()
	s.await(func() bool { return s.Pings() > 5 })
	require.Equal(t, 1, s.Calls(dingtalktest.OpenStream), "pings keep it alive")
}

func TestMalformedDeliveries(t *testing.T) {
	t.Parallel()
	s := open(t, nil).run()
	random := rand.New(rand.NewPCG(1, 2))
	odd := []any{nil, true, -1, 1e300, "", "x", "\x00", []any{}, map[string]any{}, []any{nil, 1}, map[string]any{"richText": "x"}, map[string]any{"content": 3}}
	fields := []string{"msgId", "conversationId", "senderStaffId", "senderId", "createAt", "msgtype", "text", "content", "conversationType"}
	for range 1000 {
		m := s.Message("stranger-"+strconv.Itoa(random.IntN(3)), "x")
		for range 1 + random.IntN(3) {
			m[fields[random.IntN(len(fields))]] = odd[random.IntN(len(odd))]
		}
		encoded, err := json.Marshal(m)
		require.NoError(t, err)
		require.NoError(t, s.Deliver("/v1.0/im/bot/messages/get", "", string(encoded)).Wait(s.ctx))
	}
	for _, data := range []string{"", "{", "[]", "null", `{"outTrackId":1}`, `{"content":"x"}`, `{"content":"{}"}`} {
		require.NoError(t, s.Deliver("/v1.0/card/instances/callback", "", data).Wait(s.ctx))
		require.NoError(t, s.Deliver("/v1.0/im/bot/messages/get", "", data).Wait(s.ctx))
		require.NoError(t, s.Deliver("/unknown", "", data).Wait(s.ctx))
		s.Send(data)
	}
	require.NoError(t, s.Say(dingtalktest.Ana, "hi").Wait(s.ctx))
	require.Len(t, s.backend.Accepted(), 1)
	require.False(t, s.log.has("panic"))
}

func FuzzDelivery(f *testing.F) {
	channel, err := dingtalk.New(dingtalk.Options{ClientID: "a", ClientSecret: "b"})
	require.NoError(f, err)
	f.Add([]byte(`{"msgId":"1","conversationId":"cid1","conversationType":"1","senderStaffId":"a","msgtype":"richText","content":{"richText":[{"text":"x"},{"downloadCode":"y"}]}}`))
	f.Add([]byte(`{"msgId":"1","conversationId":"cid1","senderId":"a","msgtype":"text","text":{"content":"x","isReplyMsg":true,"repliedMsg":{"content":{"text":"y"}}}}`))
	f.Add([]byte(`{"outTrackId":"x","userId":"a","content":"{\"cardPrivateData\":{\"actionIds\":[\"approve\"]}}"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		post, err := dingtalk.Read(data)
		if err == nil {
			require.NotEmpty(t, post.PlatformID)
			require.NotEmpty(t, post.Chat)
		}
		_ = dingtalk.ReadClick(channel, data)
	})
}

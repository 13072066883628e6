package qq_test

import (
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/qq"
	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestMessagesArrive(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		b := start(t, mode, setup{})
		direct := b.Say(qqtest.AnaChat, qqtest.Ana, "/stop")
		got := b.accepted(1)[0]
		require.Equal(t, []string{direct.ID, qqtest.AnaChat, qqtest.Ana, "/stop"}, []string{got.PlatformID, got.Chat, got.Sender, got.Text})
		require.True(t, got.Push)
		require.WithinDuration(t, time.Now(), got.SentAt, time.Minute)
		group := b.Say(qqtest.OpsChat, qqtest.Ana, "approve abcdefgh")
		got = b.accepted(2)[1]
		require.Equal(t, []string{group.ID, qqtest.OpsChat, "approve abcdefgh"}, []string{got.PlatformID, got.Chat, got.Text})
		for range 3 {
			b.Redeliver(direct.ID)
		}
		b.Say(qqtest.AnaChat, qqtest.Ana, "last")
		require.Len(t, b.accepted(3), 3, "each once")
		require.True(t, b.channel.IsDirect(direct.ID) == false && qq.IsDirect(qqtest.AnaChat) && !qq.IsDirect(qqtest.OpsChat))
	})
}

func TestTwoQuickMessagesStayInOrder(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		b := start(t, mode, setup{})
		for i := range 20 {
			d := b.Say(qqtest.AnaChat, qqtest.Ana, strconv.Itoa(i))
			if mode == qq.ModeHTTP { // QQ posts each by itself, in any order
				require.NoError(t, d.Wait(b.ctx))
			}
		}
		for i, msg := range b.accepted(20) {
			require.Equal(t, strconv.Itoa(i), msg.Text)
		}
	})
}

func TestWhoIsAnswered(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeSocket, setup{})
	ben := "user/" + qqtest.Ben
	asked := b.Say(ben, qqtest.Ben, "hi")
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Sent()) == 1 }))
	require.Contains(t, b.Sent()[0].Text, "holdfast pairing approve PAIR-"+qqtest.Ben)
	require.Equal(t, asked.ID, b.Sent()[0].ReplyTo)
	b.Say("group/"+qqtest.Ben, qqtest.Ana, "hi")
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Sent()) == 2 }))
	require.Contains(t, b.Sent()[1].Text, "can add "+qqtest.Ben+" to channels.qq.allow_groups")
	b.Say(qqtest.OpsChat, qqtest.Ben, "hi")
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Sent()) == 3 }))
	require.Contains(t, b.Sent()[2].Text, "to channels.qq.allow_users")
	require.Empty(t, b.backend.Accepted())
	b.backend.Approve(qq.Name, qqtest.Ben)
	b.Say(ben, qqtest.Ben, "hi again")
	require.Equal(t, "hi again", b.accepted(1)[0].Text)
}

// Nothing is lost by a connection that ends, whatever the reason, as long as QQ keeps the
// session.
func TestConnectionsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*bot){
		"after half an hour": func(b *bot) { b.Disconnect(4009) },
		"as asked":           func(b *bot) { b.AskToReconnect() },
		"too many frames":    func(b *bot) { b.Disconnect(4008) },
		"without a word":     func(b *bot) { b.Down(); b.Up() },
		"the token expired":  func(b *bot) { b.ExpireTokens(); b.Disconnect(4009) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, qq.ModeSocket, setup{})
			b.Say(qqtest.AnaChat, qqtest.Ana, "before")
			b.accepted(1)
			before := b.Connections()
			end(b)
			b.Say(qqtest.AnaChat, qqtest.Ana, "meanwhile")
			require.NoError(t, b.AwaitConnections(b.ctx, before+1))
			b.Say(qqtest.AnaChat, qqtest.Ana, "after")
			all := b.accepted(3)
			require.Equal(t, []string{"before", "meanwhile", "after"}, []string{all[0].Text, all[1].Text, all[2].Text})
			require.Equal(t, 1, b.log.count("msg=receiving\n"), "the session was resumed")
		})
	}
}

func TestSessionsThatCannotBeResumed(t *testing.T) {
	t.Parallel()
	for _, code := range []int{4006, 4007, 4900, 4009} {
		b := start(t, qq.ModeSocket, setup{})
		before := b.Connections()
		b.ExpireSession()
		b.Disconnect(code)
		require.NoError(t, b.AwaitConnections(b.ctx, before+1))
		b.Say(qqtest.AnaChat, qqtest.Ana, "hi")
		require.Equal(t, "hi", b.accepted(1)[0].Text)
	}
}

// What is written while we are down is delivered when the session is resumed.
func TestRestart(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeSocket, setup{})
	b.Say(qqtest.AnaChat, qqtest.Ana, "first")
	b.accepted(1)
	require.NoError(t, b.stop())
	for i := range 50 {
		b.Say(qqtest.AnaChat, qqtest.Ana, strconv.Itoa(i))
	}
	b.run(b.backend)
	all := b.accepted(51)
	for i, msg := range all[1:] {
		require.Equal(t, strconv.Itoa(i), msg.Text)
	}
}

func TestWhatIsNotAcceptedIsDeliveredAgain(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeSocket, setup{})
	b.backend.FailAccept(2)
	b.Say(qqtest.AnaChat, qqtest.Ana, "one")
	b.Say(qqtest.OpsChat, qqtest.Ana, "two")
	require.Len(t, b.accepted(2), 2)
	require.Positive(t, b.log.count("not accepted, qq will deliver it again"))
}

func TestSilentGatewaysAreLeft(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeSocket, setup{qq: []qqtest.Option{qqtest.Heartbeat(20 * time.Millisecond)}})
	b.Fail("heartbeat", qqtest.Always, qqtest.Fault{})
	before := b.Connections()
	require.NoError(t, b.AwaitConnections(b.ctx, before+1))
	b.Heal()
	b.Say(qqtest.AnaChat, qqtest.Ana, "hi")
	b.accepted(1)
	require.Positive(t, b.log.count("does not answer heartbeats"))
}

func TestRefusedBots(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeSocket, setup{})
	b.Disconnect(4915)
	require.Eventually(t, func() bool { return b.log.count("the bot is banned") > 0 }, deadline, time.Millisecond)
	require.NoError(t, b.stop(), "it waits for the operator")
}

func TestFilesIn(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeSocket, setup{})
	b.Say(qqtest.AnaChat, qqtest.Ana, "look",
		qqtest.Attachment{Name: "notes.txt", Type: "file", Content: []byte("remember")},
		qqtest.Attachment{Name: "a.png", Type: "image/png", Content: []byte("\x89PNG")},
		qqtest.Attachment{Name: "secret.txt", Type: "file", URL: "http://169.254.169.254/latest"},
		qqtest.Attachment{Name: "evil.txt", Type: "file", URL: "https://evilqq.com/a"},
		qqtest.Attachment{Name: "lost.txt", Type: "file", URL: b.URL() + "/media/none"},
		qqtest.Attachment{Type: "image/png", URL: "gchat.qpic.cn/a"},
	)
	msg := b.accepted(1)[0]
	require.Len(t, msg.Files, 6)
	require.Equal(t, "https://gchat.qpic.cn/a", msg.Files[5].URL)
	msg.Files = msg.Files[:5]
	saved := map[string]string{}
	got, err := b.channel.Enrich(b.ctx, channels.Enrichment{Message: msg, Save: func(name string, content io.Reader) (string, error) {
		all, err := io.ReadAll(content)
		saved[name] = string(all)
		return "media/" + name, err
	}})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"notes.txt": "remember", "a.png": "\x89PNG"}, saved)
	require.Equal(t, []string{"secret.txt is not stored by QQ", "evil.txt is not stored by QQ", "lost.txt is no longer stored by QQ"}, got.Notes)

	b.Fail("media", 1, qqtest.Fault{Status: 503})
	_, err = b.channel.Fetch(b.ctx, msg.Files[0])
	require.ErrorContains(t, err, "503")
}

func TestVoice(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeSocket, setup{})
	b.Emit("C2C_MESSAGE_CREATE", `{"id":"v1","author":{"user_openid":"`+qqtest.Ana+`"},"content":"","timestamp":"2026-11-22T10:00:00+08:00",
		"attachments":[{"content_type":"voice","filename":"a.amr","url":"https://grouptalk.c2c.qq.com/a","voice_wav_url":"//grouptalk.c2c.qq.com/a.wav","asr_refer_text":"buy milk"}]}`)
	got := b.accepted(1)[0]
	require.Equal(t, "buy milk", got.Text)
	require.Equal(t, domain.File{ID: "v1/1", Name: "voice-1.wav", MIME: "audio/wav", URL: "https://grouptalk.c2c.qq.com/a.wav", Transcribed: true}, got.Files[0])
	require.Equal(t, "2026-11-22T02:00:00Z", got.SentAt.Format(time.RFC3339))
}

func TestLocate(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{})
	for chat, ok := range map[string]bool{qqtest.AnaChat: true, qqtest.OpsChat: true, "": false, "user/": false, "room/1": false, "user/a/b": false, qqtest.Ana: false} {
		_, err := b.channel.Locate(b.ctx, chat, "")
		require.Equal(t, ok, err == nil, chat)
	}
	_, err := b.channel.Locate(b.ctx, qqtest.AnaChat, "1")
	require.ErrorAs(t, err, &channels.MalformedError{})
	_, err = b.channel.Resolve(b.ctx, qqtest.Ana, "@ben")
	require.ErrorContains(t, err, "qq can only be used for replies")
}

func TestCheckSetup(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeHTTP, setup{})
	require.NotNil(t, b.channel.Webhook())
	found := b.channel.CheckSetup(b.ctx)
	require.Equal(t, "connected as holdfast ("+qqtest.BotID+")", found[0].Text)
	require.Equal(t, chat.LevelOK, found[1].Level)
	b.Fail("token", 1, qqtest.Fault{Cut: true})
	b.ExpireTokens()
	require.Nil(t, open(t, qq.ModeSocket, setup{}).channel.Webhook())
	nobody := start(t, qq.ModeSocket, setup{options: qq.Options{Options: chat.Options{ReceiverOptions: chat.ReceiverOptions{Access: chat.Access{Users: []string{}}}}}})
	nobody.Say(qqtest.AnaChat, qqtest.Ana, "hi")
	require.NoError(t, nobody.Await(nobody.ctx, func() bool { return len(nobody.Sent()) == 1 }))
	require.Empty(t, nobody.backend.Accepted())
	require.True(t, strings.Contains(nobody.Sent()[0].Text, "I don't know you yet"))
}

func TestBlockedAcceptanceHoldsTheSession(t *testing.T) {
	t.Parallel()
	b := start(t, qq.ModeSocket, setup{})
	release := b.backend.BlockAccept()
	defer release()
	d := b.Say(qqtest.AnaChat, qqtest.Ana, "one")
	require.NoError(t, b.backend.Await(b.ctx, func(c channeltest.Counts) bool { return c.Calls == 1 }))
	require.Less(t, b.stored(), d.Seq)
	release()
	require.Eventually(t, func() bool { return b.stored() >= d.Seq }, deadline, time.Millisecond)
}

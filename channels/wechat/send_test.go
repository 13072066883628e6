package wechat_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestAReplyHasTheTokenOfTheMessageThatItAnswers(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil).run()
	s.Say(wechattest.Ana, "one")
	s.Say(wechattest.Ana, "two")
	all := s.accepted(2)
	sent, err := s.channel.Send(s.ctx, reply("o1", "**Done**, see [the page](https://example.com)"))
	require.NoError(t, err)
	post := s.Posts()[0]
	require.Equal(t, "context-"+all[1].PlatformID, post.Token, "the last message's")
	answer := reply("o2", "Done")
	answer.ReplyTo = all[0].PlatformID
	_, err = s.channel.Send(s.ctx, answer)
	require.NoError(t, err)
	require.Equal(t, "context-"+all[0].PlatformID, s.Posts()[1].Token, "that of the message that is answered")
	require.Equal(t, post.ID, sent.PlatformID)
	require.Equal(t, "holdfast-"+chat.Message{ID: "o1"}.Key(), post.ClientID)
	require.Equal(t, "Done, see the page (https://example.com)", post.Text)
}

func TestAMessageThatWasAnsweredIsNotSentAgain(t *testing.T) {
	t.Parallel()
	backend := channeltest.NewBackend(nil)
	s := open(t, backend, nil)
	s.asked()
	first, err := s.channel.Send(s.ctx, reply("o1", "hi"))
	require.NoError(t, err)
	after := openAt(t, s.Server, backend, nil) // a crash before it was recorded
	again, err := after.channel.Send(s.ctx, reply("o1", "hi"))
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, s.Posts(), 1)
}

func TestAMessageWhoseAnswerIsLostIsSentAgainWithItsKey(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil)
	s.asked()
	s.LoseResponse(wechattest.SendMessage, 1)
	_, err := s.channel.Send(s.ctx, reply("o1", "hi"))
	require.NotNil(t, remote.As(err))
	require.Zero(t, remote.As(err).Status, "whether it was sent is unknown")
	_, err = s.channel.Send(s.ctx, reply("o1", "hi"))
	require.NoError(t, err)
	posts := s.Posts()
	require.Len(t, posts, 2)
	require.Equal(t, posts[0].ClientID, posts[1].ClientID)
	windows, err := s.channel.Windows(s.ctx)
	require.NoError(t, err)
	require.Equal(t, 9, windows[0].Left, "it counts once")
}

func TestWindows(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil)
	undeliverable := func(id, why string) {
		t.Helper()
		_, err := s.channel.Send(s.ctx, reply(id, "hi"))
		require.ErrorIs(t, err, channels.ErrUndeliverableNow)
		require.ErrorContains(t, err, why)
	}
	undeliverable("o0", "the person has not written to the bot for 24h0m0s")

	s.asked()
	for i := range 10 {
		_, err := s.channel.Send(s.ctx, reply(fmt.Sprintf("o%d", i), "part"))
		require.NoError(t, err)
	}
	require.Equal(t, "part", s.posted()[8])
	require.Equal(t, "part\n\n(WeChat takes no more messages until you write again.)", s.posted()[9])
	undeliverable("o10", "all 10 messages since the person last wrote are used up")
	windows, err := s.channel.Windows(s.ctx)
	require.NoError(t, err)
	require.Equal(t, wechattest.Ana, windows[0].Chat)
	require.Zero(t, windows[0].Left)

	s.asked()
	_, err = s.channel.Send(s.ctx, reply("o10", "hi"))
	require.NoError(t, err, "she wrote again")

	require.NoError(t, wechat.Open(s.ctx, s.channel, wechattest.Ana, "old", time.Now().Add(-25*time.Hour)))
	undeliverable("o11", "the person has not written to the bot for 24h0m0s")
	require.NoError(t, wechat.Open(s.ctx, s.channel, wechattest.Ana, "older", time.Now().Add(-2*time.Hour)))
	undeliverable("o12", "WeChat refuses messages, and the person wrote at")
	require.Len(t, s.Posts(), 11)
}

func TestThrottling(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil)
	s.asked()
	s.Throttle(1)
	_, err := s.channel.Send(s.ctx, reply("o1", "hi"))
	require.Equal(t, http.StatusTooManyRequests, remote.As(err).Status)
	require.NotErrorIs(t, err, channels.ErrUndeliverableNow)
	calls := s.Calls(wechattest.SendMessage)
	_, err = s.channel.Send(s.ctx, reply("o1", "hi"))
	require.Greater(t, remote.As(err).RetryAfter, 50*time.Second)
	require.Equal(t, calls, s.Calls(wechattest.SendMessage), "WeChat is left alone")
}

func TestMessagesAreSentSlowly(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), func(o *wechat.Options) { o.Pause = 30 * time.Millisecond })
	s.asked()
	began := time.Now()
	for i := range 4 {
		_, err := s.channel.Send(s.ctx, reply(fmt.Sprintf("o%d", i), "hi"))
		require.NoError(t, err)
	}
	require.GreaterOrEqual(t, time.Since(began), 90*time.Millisecond)
}

func TestLongReply(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil)
	s.asked()
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "Paragraph **%d** with some words that make it longer, 中文 and 👩‍👩‍👧.\n\n", i)
		if i == 100 {
			b.WriteString("| a | b |\n|---|---|\n| 1 | 2 |\n\n```go\nfunc main() {}\n```\n\n")
		}
	}
	b.WriteString("```\n" + strings.Repeat("line of code\n", 150) + "```\n")
	parts := s.channel.Split(b.String())
	require.LessOrEqual(t, len(parts), 9)
	for i, part := range parts {
		out := reply(fmt.Sprintf("o1/%d", i), part.Text)
		if part.File != "" {
			out.File, out.Content, out.Text = part.File, []byte(part.Text), ""
		}
		_, err := s.channel.Send(s.ctx, out)
		require.NoError(t, err)
	}
	all := strings.Join(s.posted(), "\n")
	for i := range 300 {
		require.Equal(t, 1, strings.Count(all, fmt.Sprintf("Paragraph %d with", i)))
	}
	require.Contains(t, all, "a | b\n1 | 2")
	require.NotContains(t, all, "```")
	last := s.Posts()[len(parts)-1]
	require.Equal(t, "snippet-1.txt", last.File)
	require.Equal(t, strings.Repeat("line of code\n", 150), string(last.Content))
}

func TestApprovalsAreAnsweredInWords(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil)
	s.asked()
	question := reply("o1", "May I run `rm`?")
	question.Approval = "a1b2"
	_, err := s.channel.Send(s.ctx, question)
	require.NoError(t, err)
	require.Equal(t, "May I run rm?\n\nAnswer /approve a1b2 or /deny a1b2.", s.posted()[0])
	s.run()
	s.Say(wechattest.Ana, "/approve a1b2")
	s.Say(wechattest.Ana, "/stop")
	all := s.accepted(2)
	require.Equal(t, "/approve a1b2", all[0].Text)
	require.Equal(t, "/stop", all[1].Text)
}

func TestTyping(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil)
	s.asked()
	turn := channels.PresentedTurn{
		ID: "t1", Reply: "o1", Messages: []domain.Inbound{{Chat: wechattest.Ana, PlatformID: "1", Sender: wechattest.Ana}}, Drafts: channeltest.NewDrafts(),
	}
	s.channel.Present(turn)
	s.await(func() bool { return len(s.Typing()) == 1 })
	require.Equal(t, wechattest.Typing{To: wechattest.Ana, On: true}, s.Typing()[0])
	s.channel.Show("t1", event.Event{Kind: event.Approval})
	s.await(func() bool { return len(s.Typing()) == 2 })
	require.False(t, s.Typing()[1].On, "it waits for an answer")
	s.channel.Pause(s.ctx, "t1")
	require.Equal(t, 1, s.Calls(wechattest.GetConfig), "the ticket is used again")
}

func TestFilesOut(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil)
	s.asked()
	png := []byte("\x89PNG\r\n\x1a\n0000")
	for i, file := range []struct {
		name    string
		content []byte
		want    string
	}{{"report.pdf", []byte("%PDF-1.4 0123456789"), "report.pdf"}, {"plot.png", png, "image"}, {"empty.txt", nil, "empty.txt"}} {
		out := reply(fmt.Sprintf("o%d", i), "here it is")
		out.File, out.Content = file.name, file.content
		if i == 0 {
			s.Fail(wechattest.Upload, 1, faulty.Fault{Status: http.StatusInternalServerError})
			_, err := s.channel.Send(s.ctx, out)
			require.Error(t, err)
		}
		_, err := s.channel.Send(s.ctx, out)
		require.NoError(t, err)
		posts := s.Posts()
		require.Len(t, posts, 2*i+2, "the description is sent once")
		require.Equal(t, "here it is", posts[2*i].Text)
		require.Equal(t, file.want, posts[2*i+1].File)
		require.Equal(t, string(file.content), string(posts[2*i+1].Content))
	}
}

func TestFilesIn(t *testing.T) {
	t.Parallel()
	s := open(t, channeltest.NewBackend(nil), nil).run()
	big := s.Store(4, "big.txt", []byte(strings.Repeat("x", 2<<20)))
	s.Say(wechattest.Ana, "", wechattest.Items(s.Store(4, "../notes.txt", []byte("hello")), s.Store(2, "", []byte("\x89PNG\r\n\x1a\n")), big,
		map[string]any{"type": 4, "file_item": map[string]any{"file_name": "evil.txt", "media": map[string]any{"full_url": "http://192.0.2.1/x"}}}))
	msg := s.accepted(1)[0]
	require.Empty(t, msg.Text)
	require.Len(t, msg.Files, 4)
	saved := map[string]string{}
	out, err := s.channel.Enrich(s.ctx, channels.Enrichment{Message: msg, Save: channeltest.SaveTo(saved)})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"notes.txt": "hello", "image.jpg": "\x89PNG\r\n\x1a\n"}, saved)
	require.Len(t, out.Files, 2)
	require.Equal(t, "image/png", out.Files[1].MIME, "WeChat does not say it")
	require.Equal(t, []string{"big.txt (2 MB) is larger than 1 MB", "evil.txt is not stored by WeChat"}, out.Notes)

	s.Forget()
	out, err = s.channel.Enrich(s.ctx, channels.Enrichment{Message: msg, Save: channeltest.SaveTo(saved)})
	require.NoError(t, err)
	require.Contains(t, out.Notes, "notes.txt is no longer stored by WeChat")
}

func TestEncryption(t *testing.T) {
	t.Parallel()
	key := []byte("0123456789abcdef")
	for n := range 50 {
		content := []byte(strings.Repeat("x", n))
		plain, err := wechat.Decrypt(wechat.Encrypt(content, key), "30313233343536373839616263646566")
		require.NoError(t, err)
		require.Equal(t, string(content), string(plain))
	}
	for _, bad := range [][]byte{nil, []byte("short"), []byte(strings.Repeat("x", 32))} {
		_, err := wechat.Decrypt(bad, "30313233343536373839616263646566")
		require.Error(t, err)
	}
}

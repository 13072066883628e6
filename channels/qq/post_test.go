package qq_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/qq"
	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// deliver sends a message as often as it takes.
func (b *bot) deliver(msg domain.Outbound) {
	b.t.Helper()
	for {
		require.NoError(b.t, b.ctx.Err())
		sent, err := b.channel.Send(b.ctx, msg)
		if err == nil {
			require.NotEmpty(b.t, sent.PlatformID)
			return
		}
		failed := remote.As(err)
		require.NotNil(b.t, failed, "not a remote.Error: %v", err)
		require.False(b.t, failed.Permanent(), "%v", err)
	}
}

func TestRepliesAreNumbered(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{})
	id := b.asked(qqtest.AnaChat)
	reply := replyTo(qqtest.AnaChat, id, "")
	for n := range 4 {
		b.deliver(partOf(reply, n+1, fmt.Sprintf("part %d", n+1)))
	}
	for n, m := range b.Sent() {
		require.Equal(t, n+1, m.Seq)
		require.Equal(t, id, m.ReplyTo)
		require.Equal(t, qqtest.AnaChat, m.Chat)
	}
	_, err := b.channel.Send(b.ctx, partOf(reply, 5, "part 5"))
	require.ErrorIs(t, err, channels.ErrUndeliverableNow, "the fifth answer is the notice's")
	require.Len(t, b.Sent(), 4)

	next := b.asked(qqtest.AnaChat)
	kept := partOf(reply, 5, "part 5")
	kept.ReplyTo = next
	b.deliver(kept)
	b.deliver(replyTo(qqtest.AnaChat, next, "the next"))
	require.Equal(t, "part 5", b.Sent()[4].Text, "handed over with the next message")
	require.Equal(t, "the next", b.Sent()[5].Text, "what was kept takes no other message's number")
	require.Equal(t, next, b.Sent()[5].ReplyTo)
}

func TestOneHundredLostAnswers(t *testing.T) {
	t.Parallel()
	for _, chat := range []string{qqtest.AnaChat, qqtest.OpsChat} {
		t.Run(chat[:4], func(t *testing.T) {
			t.Parallel()
			b := open(t, qq.ModeSocket, setup{})
			for i := range 100 {
				msg := replyTo(chat, b.asked(chat), fmt.Sprintf("answer %d", i))
				b.LoseResponse("messages", 1+i%2)
				b.deliver(msg)
				question := msg
				question.ID, question.Text, question.Approval = fmt.Sprintf("oask%d", i), "May I?", "abcdefgh"
				b.LoseResponse("messages", 1)
				b.deliver(question)
			}
			sent := b.Sent()
			require.Len(t, sent, 200, "each once")
			require.Equal(t, "answer 99", sent[198].Text)
			require.Contains(t, sent[199].Text, "Answer /approve abcdefgh or /deny abcdefgh.")
		})
	}
}

func TestWhatQQTakesNoMoreIsKept(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{})
	id := b.asked(qqtest.AnaChat)
	b.Expire(id)
	_, err := b.channel.Send(b.ctx, replyTo(qqtest.AnaChat, id, "late"))
	require.ErrorIs(t, err, channels.ErrUndeliverableNow)
	require.ErrorContains(t, err, "the time for replies is over")
	_, err = b.channel.Send(b.ctx, domain.Outbound{ID: "ojob", Chat: qqtest.AnaChat, Text: "a job's"})
	require.ErrorIs(t, err, channels.ErrUndeliverableNow, "answers nothing")
	_, err = b.channel.Send(b.ctx, replyTo(qqtest.AnaChat, "ROBOT1.0_unknown", "x"))
	require.ErrorIs(t, err, channels.ErrUndeliverableNow)
	require.Empty(t, b.Sent())
	require.Len(t, b.Made("messages"), 2)

	for _, code := range []int{22009, 40034128, 40034005, 304027, 40054002, 40054013} {
		b.Fail("messages", 1, qqtest.Fault{Status: 400, Code: code})
		_, err := b.channel.Send(b.ctx, replyTo(qqtest.AnaChat, b.asked(qqtest.AnaChat), "x"))
		require.ErrorIs(t, err, channels.ErrUndeliverableNow, "%d", code)
		require.NotErrorIs(t, err, channels.ErrGone)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault  qqtest.Fault
		status int
		wait   time.Duration
		gone   bool
	}{
		{qqtest.Fault{Status: 429, RetryAfter: 7 * time.Second}, 429, 7 * time.Second, false},
		{qqtest.Fault{Status: 400, Code: 1100100}, 429, time.Second, false},
		{qqtest.Fault{Status: 500, Code: 50055001}, 503, 0, false},
		{qqtest.Fault{Status: 200, Code: 304082}, 503, 0, false},
		{qqtest.Fault{Status: 502}, 502, 0, false},
		{qqtest.Fault{Status: 407}, 502, 30 * time.Second, false},
		{qqtest.Fault{Status: 400, Code: 40034006}, 400, 0, false},
		{qqtest.Fault{Status: 200, Code: 12345}, 400, 0, false},
		{qqtest.Fault{Status: 400, Code: 40034101}, 400, 0, true},
		{qqtest.Fault{Cut: true}, 0, 0, false},
	} {
		b := open(t, qq.ModeSocket, setup{})
		b.Fail("messages", 1, tt.fault)
		_, err := b.channel.Send(b.ctx, replyTo(qqtest.AnaChat, b.asked(qqtest.AnaChat), "x"))
		failed := remote.As(err)
		require.NotNil(t, failed)
		require.Equal(t, tt.status, failed.Status, "%v", tt.fault)
		require.Equal(t, tt.wait, failed.RetryAfter, "%v", tt.fault)
		require.Equal(t, tt.gone, errors.Is(err, channels.ErrGone))
		require.NotContains(t, err.Error(), qqtest.Secret)
		require.NotContains(t, err.Error(), "token-")
	}
}

func TestRateLimitsHoldBackOneChat(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{})
	b.Fail("messages", 1, qqtest.Fault{Status: http.StatusTooManyRequests, RetryAfter: time.Minute})
	for range 2 {
		_, err := b.channel.Send(b.ctx, replyTo(qqtest.AnaChat, b.asked(qqtest.AnaChat), "x"))
		require.Positive(t, remote.As(err).RetryAfter)
	}
	require.Len(t, b.Made("messages"), 1, "the second was not made")
	b.deliver(replyTo(qqtest.OpsChat, b.asked(qqtest.OpsChat), "x"))
}

func TestTokens(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{})
	for range 3 {
		b.deliver(replyTo(qqtest.AnaChat, b.asked(qqtest.AnaChat), "x"))
	}
	require.Len(t, b.Made("token"), 1)
	b.ExpireTokens()
	b.deliver(replyTo(qqtest.AnaChat, b.asked(qqtest.AnaChat), "x"))
	require.Len(t, b.Made("token"), 2, "one that is refused is replaced")
	require.Len(t, b.Sent(), 4)

	o := qq.Options{AppID: qqtest.AppID, Secret: "guessed-secret", APIURL: b.URL(), TokenURL: b.TokenURL()}
	stranger, err := qq.New(o)
	require.NoError(t, err)
	_, err = stranger.Identify(b.ctx)
	require.ErrorContains(t, err, "does not accept channels.qq.app_id and channels.qq.secret: invalid appid or secret")
	require.NotContains(t, err.Error(), "guessed-secret")
	require.False(t, remote.As(err).Permanent(), "the operator can fix it")
	b.Fail("token", 1, qqtest.Fault{Status: 429, RetryAfter: time.Second})
	_, err = stranger.Identify(b.ctx)
	require.Equal(t, 429, remote.As(err).Status)
	_, err = qq.New(qq.Options{AppID: "1"})
	require.ErrorContains(t, err, "channels.qq.secret is not set")
	_, err = qq.New(qq.Options{Secret: "1"})
	require.ErrorContains(t, err, "channels.qq.app_id is not set")
}

func TestLinksThatAreNotRegistered(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{qq: []qqtest.Option{qqtest.WithoutLinks()}})
	b.deliver(replyTo(qqtest.AnaChat, b.asked(qqtest.AnaChat), "see [it](https://docs.example.com/a) or go.dev"))
	require.Len(t, b.Sent(), 1)
	require.Equal(t, "see it (docs .example .com/a) or go .dev", b.Sent()[0].Text)
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	const text = "**a** `b`\n\n| x | y |\n|---|---|\n| 1 | 2 |"
	plain := open(t, qq.ModeSocket, setup{})
	plain.deliver(replyTo(qqtest.AnaChat, plain.asked(qqtest.AnaChat), text))
	require.Equal(t, "a b\n\n| x | y |\n|---|---|\n| 1 | 2 |", plain.Sent()[0].Text)
	require.Zero(t, plain.Sent()[0].Type)
	native := open(t, qq.ModeSocket, setup{options: qq.Options{Markdown: true}})
	native.deliver(replyTo(qqtest.AnaChat, native.asked(qqtest.AnaChat), text))
	require.Equal(t, text, native.Sent()[0].Text)
	require.Equal(t, 2, native.Sent()[0].Type)
}

// longAnswer has code and tables.
func longAnswer() string {
	var b strings.Builder
	for i := 0; b.Len() < 30_000; i++ {
		fmt.Fprintf(&b, "## Chapter %d\n\nSome **words** on number %d, %s.\n\n", i, i, strings.Repeat("and more ", 30))
		fmt.Fprintf(&b, "```go\nfunc f%d() int {\n\treturn %d\n}\n```\n\n| n | square |\n|---|---|\n| %d | %d |\n\n", i, i, i, i*i)
	}
	return b.String()
}

// Of a long answer four messages are sent. The last one says that there are more, which
// are sent as answers to the next message.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{})
	parts := b.channel.Split(longAnswer())
	require.Greater(t, len(parts), 4)
	require.LessOrEqual(t, len(parts), 10)
	reply := replyTo(qqtest.AnaChat, b.asked(qqtest.AnaChat), "")
	for n, part := range parts {
		msg := partOf(reply, n+1, part.Text)
		if _, err := b.channel.Send(b.ctx, msg); errors.Is(err, channels.ErrUndeliverableNow) {
			require.Contains(t, b.Sent()[3].Text, "(More follows, at the latest when you write again.)")
			reply.ReplyTo = b.asked(qqtest.AnaChat)
			msg.ReplyTo = reply.ReplyTo
			b.deliver(msg)
		} else {
			require.NoError(t, err)
		}
	}
	require.LessOrEqual(t, len(b.Made("messages")), len(parts)+1, "what is surely refused is not tried")
	var all strings.Builder
	for _, m := range b.Sent() {
		all.WriteString(m.Text + "\n")
	}
	require.Len(t, b.Sent(), len(parts))
	for i := range 50 {
		require.Equal(t, 1, strings.Count(all.String(), fmt.Sprintf("Chapter %d\n", i)), "%d", i)
		require.Equal(t, 1, strings.Count(all.String(), fmt.Sprintf("return %d\n", i)))
		require.Contains(t, all.String(), fmt.Sprintf("| %d", i*i))
	}
}

// A request that takes long is answered by one notice, whatever happens to it.
func TestNotice(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{options: qq.Options{NoticeAfter: time.Millisecond}})
	id := b.asked(qqtest.OpsChat)
	turn := channels.PresentedTurn{
		ID: "m1", Reply: "o1", Drafts: channeltest.NewDrafts(),
		Messages: []domain.Inbound{{PlatformID: id, Chat: qqtest.OpsChat, Sender: qqtest.Ana}},
	}
	b.channel.Present(turn)
	b.channel.Show("m1", event.Event{Kind: event.ToolStart, Tool: "exec"})
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Sent()) == 1 }))
	b.channel.Pause(b.ctx, "m1")
	require.Equal(t, "This takes longer. If QQ closes the window for replies, I will answer when you write again.", b.Sent()[0].Text)
	require.Equal(t, 5, b.Sent()[0].Seq)

	second, err := qq.New(qq.Options{AppID: qqtest.AppID, Secret: qqtest.Secret, APIURL: b.URL(), TokenURL: b.TokenURL(), NoticeAfter: time.Millisecond})
	require.NoError(t, err)
	turn.Resumed = true
	second.Present(turn)
	require.NoError(t, b.Await(b.ctx, func() bool { return len(b.Made("messages")) == 2 }))
	second.Pause(b.ctx, "m1")
	second.Conclude(turn, false, true)
	second.Wait(b.ctx)
	require.Len(t, b.Sent(), 1, "shown once")
	b.deliver(replyTo(qqtest.OpsChat, id, "done"))

	quick := open(t, qq.ModeSocket, setup{})
	quick.channel.Present(turn)
	quick.channel.Pause(quick.ctx, "m1")
	quick.channel.Conclude(turn, false, true)
	quick.channel.Wait(quick.ctx)
	require.Empty(t, quick.Made("messages"), "off")
}

func TestFilesOut(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{})
	msg := replyTo(qqtest.AnaChat, b.asked(qqtest.AnaChat), "the **chart**")
	msg.File, msg.Content = "chart.png", []byte("\x89PNG")
	b.LoseResponse("files", 1)
	b.LoseResponse("messages", 1)
	b.deliver(msg)
	other := replyTo(qqtest.OpsChat, b.asked(qqtest.OpsChat), "")
	other.File, other.Content = "log.txt", []byte("all is well")
	b.deliver(other)
	sent := b.Sent()
	require.Len(t, sent, 2)
	require.Equal(t, []any{1, "chart.png", "the chart", 7}, []any{sent[0].FileType, sent[0].FileName, sent[0].Text, sent[0].Type})
	require.Equal(t, []any{4, "log.txt", " ", "all is well"}, []any{sent[1].FileType, sent[1].FileName, sent[1].Text, string(sent[1].Content)})

	refusing := open(t, qq.ModeSocket, setup{qq: []qqtest.Option{qqtest.WithoutFiles()}})
	other.ReplyTo = refusing.asked(qqtest.OpsChat)
	_, err := refusing.channel.Send(refusing.ctx, other)
	require.True(t, remote.As(err).Permanent(), "%v", err)
	require.Empty(t, refusing.Sent())
}

func TestAway(t *testing.T) {
	t.Parallel()
	b := open(t, qq.ModeSocket, setup{})
	msg := replyTo(qqtest.AnaChat, b.asked(qqtest.AnaChat), "hi")
	b.Down()
	_, err := b.channel.Send(b.ctx, msg)
	require.Zero(t, remote.As(err).Status)
	b.Up()
	b.deliver(msg)
	require.Len(t, b.Sent(), 1)
}

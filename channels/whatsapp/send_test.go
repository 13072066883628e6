package whatsapp_test

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/whatsapp"
	"github.com/holdfast-ai/holdfast/channels/whatsapp/whatsapptest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

func TestOneHundredLostAnswers(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	n.asked()
	for i := range 100 {
		n.LoseResponse("messages", 1)
		sent := n.deliver(outgoing(fmt.Sprintf("o%d", i), fmt.Sprintf("answer %d", i)))
		require.Equal(t, n.Sent()[i].ID, sent.PlatformID)
	}
	require.Len(t, n.Sent(), 100, "each once: WhatsApp reports what it sent")
}

// Another process than the one that gets the report may wait for it.
func TestReportsReachOtherProcesses(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	n.asked()
	worker := n.open(whatsapp.Options{})
	n.LoseResponse("messages", 1)
	_, err := worker.Send(n.ctx, outgoing("o1", "hi"))
	require.Zero(t, remote.As(err).Status)
	found, err := n.open(whatsapp.Options{}).Find(n.ctx, outgoing("o1", "hi"))
	require.NoError(t, err)
	require.True(t, found.Posted)
	require.Equal(t, n.Sent()[0].ID, found.PlatformID)
}

func TestWithoutAReportItIsSentAgain(t *testing.T) {
	t.Parallel()
	n := start(t, setup{options: whatsapp.Options{ReportWait: 20 * time.Millisecond}})
	n.asked()
	n.Fail("messages", 1, whatsapptest.Fault{Cut: true})
	n.deliver(outgoing("o1", "never arrived"))
	require.Len(t, n.Sent(), 1)
	n.Mute()
	n.LoseResponse("messages", 1)
	n.deliver(outgoing("o2", "reported too late"))
	require.Len(t, n.Sent(), 3, "the remaining risk")
}

func TestTheWindow(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	n.asked()
	n.Limit(whatsapptest.Ana, 0)
	_, err := n.channel.Send(n.ctx, outgoing("o1", "late"))
	require.ErrorIs(t, err, channels.ErrUndeliverableNow)
	require.NotErrorIs(t, err, channels.ErrGone)
	require.Len(t, n.Made("messages"), 1)

	// WhatsApp may take such a message and fail to deliver it later: it is not tried.
	require.NoError(t, n.backend.SetCursor(n.ctx, whatsapp.Name, "wrote/"+whatsapptest.Ana, strconv.FormatInt(time.Now().Add(-24*time.Hour).Unix(), 10)))
	_, err = n.channel.Send(n.ctx, outgoing("o1", "late"))
	require.ErrorIs(t, err, channels.ErrUndeliverableNow)
	require.Len(t, n.Made("messages"), 1, "not tried")

	n.asked()
	n.deliver(outgoing("o1", "handed over"))
	require.Len(t, n.Sent(), 1)
}

func TestFailures(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault  whatsapptest.Fault
		status int
		wait   time.Duration
		gone   bool
	}{
		{whatsapptest.Fault{Status: 400, Code: 131056}, 429, 6 * time.Second, false},
		{whatsapptest.Fault{Status: 429, Code: 130429}, 429, time.Second, false},
		{whatsapptest.Fault{Status: 400, Code: 80007, RetryAfter: 9 * time.Second}, 429, 9 * time.Second, false},
		{whatsapptest.Fault{Status: 500, Code: 131000}, 503, 0, false},
		{whatsapptest.Fault{Status: 502}, 502, 0, false},
		{whatsapptest.Fault{Status: 407}, 502, 30 * time.Second, false},
		{whatsapptest.Fault{Status: 401, Code: 190}, 503, 30 * time.Second, false},
		{whatsapptest.Fault{Status: 403, Code: 200}, 503, 30 * time.Second, false},
		{whatsapptest.Fault{Status: 403, Code: 368}, 503, 30 * time.Second, false},
		{whatsapptest.Fault{Status: 400, Code: 100}, 400, 0, false},
		{whatsapptest.Fault{Status: 400, Code: 131026}, 400, 0, true},
		{whatsapptest.Fault{Cut: true}, 0, 0, false},
	} {
		n := start(t, setup{})
		n.asked()
		n.Fail("messages", 1, tt.fault)
		_, err := n.channel.Send(n.ctx, outgoing("o1", "x"))
		failed := remote.As(err)
		require.NotNil(t, failed)
		require.Equal(t, tt.status, failed.Status, "%v", tt.fault)
		require.Equal(t, tt.wait, failed.RetryAfter, "%v", tt.fault)
		require.Equal(t, tt.gone, errors.Is(err, channels.ErrGone))
		require.NotContains(t, err.Error(), whatsapptest.AccessToken)
	}
}

func TestRateLimitsHoldBackOnePerson(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	n.asked()
	n.Wrote(whatsapptest.Ben, time.Now())
	n.Fail("messages", 1, whatsapptest.Fault{Status: http.StatusBadRequest, Code: 131056})
	for range 2 {
		_, err := n.channel.Send(n.ctx, outgoing("o1", "x"))
		require.Positive(t, remote.As(err).RetryAfter)
	}
	require.Len(t, n.Made("messages"), 1, "the second was not made")
	other := outgoing("o2", "x")
	other.Chat = whatsapptest.Ben
	n.deliver(other)
}

func TestAway(t *testing.T) {
	t.Parallel()
	n := start(t, setup{options: whatsapp.Options{ReportWait: 20 * time.Millisecond}})
	n.asked()
	n.Down()
	_, err := n.channel.Send(n.ctx, outgoing("o1", "hi"))
	require.Zero(t, remote.As(err).Status)
	n.Up()
	n.deliver(outgoing("o1", "hi"))
	require.Len(t, n.Sent(), 1)
}

func TestFormatting(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	n.asked()
	n.deliver(outgoing("o1", "# Title\n\n**a** *b* ~~c~~ `d` [e](https://f.g)\n\n```go\nx := 1\n```"))
	require.Equal(t, "*Title*\n\n*a* _b_ ~c~ `d` e (https://f.g)\n\n```\nx := 1\n```", n.Sent()[0].Text)
}

func TestLongAnswers(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	n.asked()
	var b strings.Builder
	for i := 0; b.Len() < 30_000; i++ {
		fmt.Fprintf(&b, "## Chapter %d\n\nSome **words** 😀 on number %d, %s.\n\n", i, i, strings.Repeat("and more ", 30))
		fmt.Fprintf(&b, "```go\nfunc f%d() int {\n\treturn %d\n}\n```\n\n| n | square |\n|---|---|\n| %d | %d |\n\n", i, i, i, i*i)
	}
	parts := n.channel.Split(b.String())
	require.LessOrEqual(t, len(parts), 12)
	var all strings.Builder
	for i, part := range parts {
		n.LoseResponse("messages", i%2)
		n.deliver(domain.Outbound{ID: domain.PartID("o1", i+1), Chat: whatsapptest.Ana, Text: part.Text, Part: i + 1})
		all.WriteString(n.Sent()[i].Text + "\n")
	}
	require.Len(t, n.Sent(), len(parts))
	for i := range 50 {
		require.Equal(t, 1, strings.Count(all.String(), fmt.Sprintf("Chapter %d*\n", i)), "%d", i)
		require.Equal(t, 1, strings.Count(all.String(), fmt.Sprintf("return %d\n", i)))
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	n.asked()
	question := outgoing("o1", "May I run `rm -rf build`?")
	question.Approval = "abcdefgh"
	n.deliver(question)
	sent := n.Sent()[0]
	require.Equal(t, []whatsapptest.Button{{ID: "approve:abcdefgh", Title: "Approve"}, {ID: "deny:abcdefgh", Title: "Deny"}}, sent.Buttons)
	require.NoError(t, n.Click(whatsapptest.Ana, sent.Buttons[0]).Wait(n.ctx))
	got := n.accepted(2)[1]
	require.Equal(t, "/approve abcdefgh", got.Text)
	require.False(t, got.Push)
	require.NoError(t, n.Click(whatsapptest.Ben, sent.Buttons[0]).Wait(n.ctx))
	require.Len(t, n.accepted(2), 2, "not Ben's to answer")

	long := outgoing("o2", strings.Repeat("a long command ", 100))
	long.Approval = "abcdefgh"
	n.deliver(long)
	last := n.Sent()[len(n.Sent())-1]
	require.Empty(t, last.Buttons, "all of it has to be seen")
	require.Contains(t, last.Text, "/approve abcdefgh")
}

func TestTyping(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	id := n.asked()
	turn := channels.PresentedTurn{ID: "m1", Reply: "o1", Drafts: channeltest.NewDrafts(), Messages: []domain.Inbound{{PlatformID: id, Chat: whatsapptest.Ana}}}
	n.channel.Present(turn)
	n.channel.Show("m1", event.Event{Kind: event.ToolStart, Tool: "exec"})
	require.NoError(t, n.Await(n.ctx, func() bool { return len(n.Made("messages")) == 1 }))
	n.channel.Pause(n.ctx, "m1")
	n.channel.Conclude(turn, false, true)
	n.channel.Wait(n.ctx)
	call := n.Made("messages")[0]
	require.Equal(t, []any{"read", id, http.StatusOK}, []any{call.JSON()["status"], call.JSON()["message_id"], call.Status})
	require.Equal(t, map[string]any{"type": "text"}, call.JSON()["typing_indicator"])
	require.NoError(t, n.channel.Indicate(n.ctx, chat.Place{Chat: whatsapptest.Ana, ReplyTo: "command-1"}, chat.Indication{Text: "x"}))
	require.Len(t, n.Made("messages"), 1)
}

func TestFilesOut(t *testing.T) {
	t.Parallel()
	n := start(t, setup{})
	n.asked()
	for _, tt := range []struct{ name, kind, mime string }{
		{"a.png", "image", "image/png"}, {"b.pdf", "document", "application/pdf"}, {"c.unknown", "document", "text/plain"}, {"d.mp3", "audio", "audio/mpeg"},
	} {
		msg := outgoing("o"+tt.name, "the **file**")
		msg.File, msg.Content = tt.name, []byte(tt.name)
		n.LoseResponse("media", 1)
		_, err := n.channel.Send(n.ctx, msg)
		require.False(t, remote.As(err).Permanent())
		require.Less(t, remote.As(err).Status, 500, "it was not sent, which nobody has to wait to hear")
		n.LoseResponse("messages", 1)
		n.deliver(msg)
		got := n.Sent()[len(n.Sent())-1]
		require.Equal(t, []string{tt.kind, tt.mime, tt.name}, []string{got.Type, got.MIME, string(got.Content)})
		if tt.kind == "document" {
			require.Equal(t, tt.name, got.FileName)
		}
		if tt.kind != "audio" {
			require.Equal(t, "the *file*", got.Text)
		}
	}
	require.Len(t, n.Sent(), 4)
}

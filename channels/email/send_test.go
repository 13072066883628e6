package email_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/email"
	"github.com/holdfast-ai/holdfast/channels/email/emailtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// The answer to every mail is lost: each still leaves once.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	msg := o.say(emailtest.Letter{ID: "m@x", Subject: "Hi", Text: "hi"})
	const n = 100
	o.LoseAnswers(n)
	for i := range n {
		o.deliver(reply(msg, fmt.Sprint("o", i), "answer"))
	}
	require.Len(t, o.Sent(), n)
}

// A copy that takes a while to arrive is waited for.
func TestLateCopy(t *testing.T) {
	t.Parallel()
	o := receiving(t, func(o *email.Options) { o.Settle = 5 * time.Second })
	msg := o.say(emailtest.Letter{ID: "m@x", Text: "hi"})
	o.DelayCopies(700 * time.Millisecond)
	o.LoseAnswers(1)
	o.deliver(reply(msg, "o1", "answer"))
	require.Len(t, o.Sent(), 1)
}

// Without blind copies, a lost answer sends the same mail again, with the same Message-ID.
func TestLostAnswerWithoutBlindCopy(t *testing.T) {
	t.Parallel()
	o := receiving(t, func(o *email.Options) { o.BlindCopy = false })
	msg := o.say(emailtest.Letter{ID: "m@x", Text: "hi"})
	o.LoseAnswers(1)
	o.deliver(reply(msg, "o1", "answer"))
	sent := o.mails()
	require.Len(t, sent, 2)
	require.Equal(t, sent[0].field(t, "Message-Id"), sent[1].field(t, "Message-Id"))
	require.Len(t, o.Mailbox(emailtest.SentMailbox), 1)
	found, err := o.channel.Find(o.ctx, reply(msg, "o1", "answer"))
	require.NoError(t, err)
	require.True(t, found.Posted)
}

func TestCopies(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	msg := o.say(emailtest.Letter{ID: "m@x", Text: "hi"})
	for i := range 3 {
		o.deliver(reply(msg, fmt.Sprint("o", i), "answer"))
	}
	require.Len(t, o.Mailbox(emailtest.SentMailbox), 3)
	// The blind copies go once the mailbox for sent mail has them; people's mail stays.
	require.Eventually(t, func() bool {
		o.Say(emailtest.Letter{From: "someone@example.com", Forged: true, ID: fmt.Sprint(time.Now().UnixNano(), "@x"), Text: "wakes the receiver"})
		for _, raw := range o.Mailbox("INBOX") {
			if strings.Contains(string(raw), "holdfast.") {
				return false
			}
		}
		return true
	}, deadline, 20*time.Millisecond)
	require.Contains(t, string(o.Mailbox("INBOX")[0]), "<m@x>")
	require.Len(t, o.backend.Accepted(), 1)

	o.FailAppends(1)
	o.deliver(reply(msg, "o9", "answer"))
	require.Len(t, o.Sent(), 4)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	o := open(t, nil)
	to := domain.Inbound{Chat: emailtest.Ana}
	for code, permanent := range map[int]bool{451: false, 421: false, 552: true, 554: true} {
		o.Refuse(1, code)
		_, err := o.channel.Send(o.ctx, reply(to, "o1", "hi"))
		failed := remote.As(err)
		require.NotNil(t, failed, "%v", err)
		require.NotZero(t, failed.Status)
		require.Equal(t, permanent, failed.Permanent(), "%d: %v", code, err)
		require.NotErrorIs(t, err, channels.ErrGone)
	}
	o.Gone(emailtest.Bob)
	_, err := o.channel.Send(o.ctx, reply(domain.Inbound{Chat: emailtest.Bob}, "o1", "hi"))
	require.ErrorIs(t, err, channels.ErrGone)
	o.Away(true)
	_, err = o.channel.Send(o.ctx, reply(to, "o1", "hi"))
	require.False(t, remote.As(err).Permanent())
	require.NotZero(t, remote.As(err).Status, "it is known not to have been sent")
	require.Empty(t, o.Sent())
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	o := open(t, func(o *email.Options) { o.Password = "wrong-secret" })
	_, err := o.channel.Identify(o.ctx)
	require.ErrorContains(t, err, "check channels.email.username and password")
	require.NotContains(t, err.Error(), "wrong-secret")
	require.False(t, remote.As(err).Permanent())
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	for _, security := range []string{email.SecurityTLS, email.SecurityStartTLS} {
		o := open(t, func(o *email.Options) { o.TLS, o.IMAP.Security = nil, security })
		_, err := o.channel.Identify(o.ctx)
		require.Error(t, err)
	}
	o := open(t, func(o *email.Options) { o.SMTP.Security = email.SecurityTLS })
	_, err := o.channel.Send(o.ctx, domain.Outbound{ID: "o1", Chat: emailtest.Ana, Text: "hi"})
	require.Error(t, err)
	require.Empty(t, o.Sent())
}

func TestLongAnswer(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	msg := o.say(emailtest.Letter{ID: "m@x", Subject: "Report", Text: "write"})
	text := "# Report\n\n| a | b |\n|---|---|\n| 1 | **2** |\n\n```go\nfunc main() { println(\"<&>\") }\n```\n\n" +
		strings.Repeat("A paragraph with *emphasis* and a [link](https://example.com/a?b=c&d).\n\n", 420) +
		"<script>alert(1)</script>\n\n[bad](javascript:alert(1)) ![img](https://example.com/x.png)\n"
	require.Greater(t, len(text), 30_000)
	require.Len(t, o.channel.Split(text), 1)
	o.deliver(reply(msg, "o1", text))
	sent := o.mails()
	require.Len(t, sent, 1)
	require.Equal(t, strings.TrimSpace(text), strings.TrimSpace(sent[0].text))
	require.Contains(t, sent[0].html, "<strong>2</strong>")
	require.Contains(t, sent[0].html, "println(&quot;&lt;&amp;&gt;&quot;)")
	require.Equal(t, 420, strings.Count(sent[0].html, "<em>emphasis</em>"))
	require.NotContains(t, sent[0].html, "<script>")
	require.NotContains(t, sent[0].html, "javascript:")
	require.NotContains(t, sent[0].html, "<img")
	for line := range strings.Lines(string(o.Sent()[0].Raw)) {
		require.LessOrEqual(t, len(line), 998)
	}
}

func TestFilesOut(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	msg := o.say(emailtest.Letter{ID: "m@x", Subject: "Chart", Text: "draw"})
	file := reply(msg, "o1", "The chart")
	file.File, file.Content = "größe \"1\".png", []byte("\x89PNG\x00\x01")
	o.deliver(file)
	sent := o.mails()[0]
	require.Equal(t, map[string]string{"größe \"1\".png": "\x89PNG\x00\x01"}, sent.files)
	require.Equal(t, "Re: Chart", sent.field(t, "Subject"))
	require.Equal(t, "The chart", sent.text)
}

// Nothing that somebody or the model writes becomes a header field.
func TestHeaderInjection(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	raw := string(emailtest.Letter{From: emailtest.Ana, ID: "m@x", Text: "hi"}.Raw())
	raw = strings.Replace(raw, "\r\nTo: ", "\r\nSubject: =?utf-8?q?a=0D=0ABcc=3A_evil=40example.com?=\r\nTo: ", 1)
	o.Put([]byte(raw))
	msg := o.accepted(1)[0]
	out := reply(msg, "o1", "hi")
	out.File, out.Content = "a\r\nX-Evil: 1.txt", []byte("x")
	o.deliver(out)
	o.deliver(domain.Outbound{ID: "o2", Chat: emailtest.Ana, Thread: "a@x>\r\nX-Evil: 1", Text: "subject\r\nX-Evil: 1"})
	for i, mail := range o.mails() {
		require.False(t, mail.Has("Bcc"), "%s", o.Sent()[i].Raw)
		require.False(t, mail.Has("X-Evil"), "%s", o.Sent()[i].Raw)
		require.NotContains(t, string(o.Sent()[i].Raw), "\r\nX-Evil: 1.txt")
		require.Equal(t, emailtest.Ana, mail.to)
	}
	_, err := o.channel.Send(o.ctx, domain.Outbound{ID: "o3", Chat: "ana@example.com>\r\nRCPT TO:<evil@example.com", Text: "hi"})
	require.Error(t, err)
}

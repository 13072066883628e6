package email_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/email"
	"github.com/holdfast-ai/holdfast/channels/email/emailtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestThreads(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	first := o.say(emailtest.Letter{ID: "a1@x", Subject: "Größe?", Text: "How big is it?"})
	require.Equal(t, "Subject: Größe?\n\nHow big is it?", first.Text)
	require.Equal(t, emailtest.Ana, first.Chat)
	require.Equal(t, "a1@x", first.Thread)
	require.True(t, first.Push)

	answer, err := o.channel.Send(o.ctx, reply(first, "o1", "Big."))
	require.NoError(t, err)
	sent := openMail(t, o.AwaitSent(o.ctx, 1)[0])
	require.Equal(t, "Re: Größe?", sent.field(t, "Subject"))
	require.Equal(t, "<a1@x>", sent.field(t, "In-Reply-To"))
	require.Equal(t, "<a1@x>", sent.field(t, "References"))
	require.Equal(t, "auto-replied", sent.field(t, "Auto-Submitted"))

	next := o.say(emailtest.Letter{ID: "a2@x", Subject: "Re: Größe?", Refers: []string{"a1@x", answer.PlatformID}, Text: "And how tall?\n\nOn Monday, Holdfast wrote:\n> Big."})
	require.Equal(t, "a1@x", next.Thread)
	require.Equal(t, "And how tall?", next.Text)
	require.Empty(t, next.Files)
	_, err = o.channel.Send(o.ctx, reply(next, "o2", "Tall."))
	require.NoError(t, err)
	sent = o.mails()[1]
	require.Equal(t, "Re: Größe?", sent.field(t, "Subject"))
	require.Equal(t, "<a1@x> <"+answer.PlatformID+"> <a2@x>", sent.field(t, "References"))

	// A job's message in the thread answers the last mail; one in none begins a thread.
	_, err = o.channel.Send(o.ctx, domain.Outbound{ID: "o3", Chat: emailtest.Ana, Thread: "a1@x", Text: "By the way"})
	require.NoError(t, err)
	_, err = o.channel.Send(o.ctx, domain.Outbound{ID: "o4", Chat: emailtest.Ana, Text: "# News of the day\n\nNone."})
	require.NoError(t, err)
	require.Equal(t, "<a2@x>", o.mails()[2].field(t, "In-Reply-To"))
	require.Equal(t, "auto-generated", o.mails()[3].field(t, "Auto-Submitted"))
	require.Equal(t, "News of the day", o.mails()[3].field(t, "Subject"))
	require.Empty(t, o.mails()[3].field(t, "References"))
}

func TestTwoPeopleInAThread(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	earlier := time.Now().Add(-time.Minute)
	o.PutAt(emailtest.Letter{From: emailtest.Ana, ID: "a1@x", Subject: "Plan", Text: "for Bob", Header: map[string]string{"Cc": emailtest.Bob}}.Raw(), earlier)
	ana := o.accepted(1)[0]
	secret := o.say(emailtest.Letter{ID: "a2@x", Refers: []string{"a1@x"}, Text: "not for Bob"})
	bob := o.say(emailtest.Letter{From: emailtest.Bob, ID: "b1@x", Refers: []string{"a1@x"}, Text: "what do you think?"})
	require.Equal(t, ana.Thread, secret.Thread)
	require.Equal(t, ana.Thread, bob.Thread)
	require.Equal(t, emailtest.Bob, bob.Chat)
	seen, err := o.channel.Enrich(o.ctx, channels.Enrichment{Message: bob})
	require.NoError(t, err)
	require.Len(t, seen.Before, 1)
	require.Equal(t, "for Bob", seen.Before[0].Text)
	for i, to := range []domain.Inbound{ana, bob} {
		_, err := o.channel.Send(o.ctx, reply(to, fmt.Sprint("o", i), "ok"))
		require.NoError(t, err)
	}
	sent := o.Sent()
	require.Equal(t, []string{emailtest.Ana, emailtest.Bob}, []string{sent[0].To, sent[1].To})
}

func TestOrderAndRedelivery(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	for range 3 {
		for i := range 5 {
			o.Say(emailtest.Letter{From: emailtest.Ana, ID: fmt.Sprintf("m%d@x", i), Refers: []string{"root@x"}, Text: fmt.Sprint("message ", i)})
		}
	}
	o.awaitRead(o.Say(emailtest.Letter{From: emailtest.Ana, ID: "last@x", Refers: []string{"root@x"}, Text: "last"}))
	require.Equal(t, []string{"message 0", "message 1", "message 2", "message 3", "message 4", "last"}, texts(o.backend.Accepted()))
}

// What is written while Holdfast is down is answered, in order; what was there before it was
// first started is not.
func TestRestart(t *testing.T) {
	t.Parallel()
	o := open(t, func(o *email.Options) { o.HourlyLimit = 100 })
	o.Say(emailtest.Letter{From: emailtest.Ana, ID: "old@x", Text: "old"})
	o.run()
	o.say(emailtest.Letter{ID: "m@x", Text: "now"})
	o.stop()
	var want []string
	for i := range 50 {
		want = append(want, fmt.Sprint("message ", i))
		o.Say(emailtest.Letter{From: emailtest.Ana, ID: fmt.Sprintf("m%d@x", i), Refers: []string{"root@x"}, Text: want[i]})
	}
	o.run()
	require.Equal(t, append([]string{"now"}, want...), texts(o.accepted(51)))
}

func TestRenumberedMailbox(t *testing.T) {
	t.Parallel()
	for _, when := range []struct {
		name string
		at   time.Duration
	}{{"mail keeps its time", -60 * 24 * time.Hour}, {"all mail seems new", 0}} {
		t.Run(when.name, func(t *testing.T) {
			t.Parallel()
			o := open(t, nil)
			old := strings.Replace(string(emailtest.Letter{From: emailtest.Ana, ID: "old@x", Text: "old"}.Raw()), "\r\nDate: ", "\r\nDate: Mon, 02 Mar 2020 10:00:00 +0000\r\nX-Date: ", 1)
			o.PutAt([]byte(old), time.Now().Add(when.at))
			o.run()
			o.say(emailtest.Letter{ID: "m1@x", Text: "one"})
			o.stop()
			o.Say(emailtest.Letter{From: emailtest.Ana, ID: "m2@x", Text: "two"})
			o.Renumber(func(raw []byte) time.Time {
				if strings.Contains(string(raw), "old@x") {
					return time.Now().Add(when.at)
				}
				return time.Now()
			})
			o.run()
			o.awaitRead(o.Say(emailtest.Letter{From: emailtest.Ana, ID: "m3@x", Text: "three"}))
			require.ElementsMatch(t, []string{"one", "two", "three"}, texts(o.accepted(3)))
		})
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	o.backend.FailAccept(2)
	o.Say(emailtest.Letter{From: emailtest.Ana, ID: "m1@x", Text: "one"})
	o.accepted(1)
	o.Away(true)
	o.Away(false)
	o.say(emailtest.Letter{ID: "m2@x", Text: "two"})
	o.FailFetches(2)
	o.say(emailtest.Letter{ID: "m3@x", Text: "three"})
	for i := range 5 {
		o.Cut()
		o.say(emailtest.Letter{ID: fmt.Sprintf("c%d@x", i), Text: "cut"})
	}
	require.Len(t, o.backend.Accepted(), 8)
}

// A mail that the server never gives out does not hold up the others.
func TestUnreadableMail(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	o.FailFetches(5)
	o.Say(emailtest.Letter{From: emailtest.Ana, ID: "m1@x", Text: "one"})
	o.awaitRead(1)
	o.say(emailtest.Letter{ID: "m2@x", Text: "two"})
	require.Equal(t, []string{"two"}, texts(o.backend.Accepted()))
}

func TestWithoutIdle(t *testing.T) {
	t.Parallel()
	o := receiving(t, func(o *email.Options) { o.Poll = 10 * time.Millisecond }, emailtest.WithoutIdle())
	msg := o.say(emailtest.Letter{ID: "m1@x", Text: "one"})
	o.deliver(reply(msg, "o1", "answer"))
	require.Len(t, o.Sent(), 1)
}

func TestHourlyLimit(t *testing.T) {
	t.Parallel()
	o := receiving(t, func(o *email.Options) { o.HourlyLimit = 2 })
	for i := range 4 {
		o.Say(emailtest.Letter{From: emailtest.Ana, ID: fmt.Sprintf("a%d@x", i), Text: "hi"})
	}
	o.awaitRead(o.Say(emailtest.Letter{From: emailtest.Bob, ID: "b@x", Text: "hi"}))
	require.Len(t, o.accepted(3), 3)
	// It is put off, not lost: another start counts anew.
	o.stop()
	again, err := email.New(o.options)
	require.NoError(t, err)
	o.channel = again
	o.run()
	o.accepted(5)
}

func TestMarkSeen(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	o.say(emailtest.Letter{ID: "m1@x", Text: "one"})
	o.say(emailtest.Letter{ID: "m2@x", Text: "two"})
	require.Eventually(t, func() bool {
		c := o.Client()
		defer c.Close()
		_, err := c.Select("INBOX", nil).Wait()
		require.NoError(t, err)
		seen, err := c.UIDSearch(&imap.SearchCriteria{Flag: []imap.Flag{imap.FlagSeen}}, nil).Wait()
		require.NoError(t, err)
		return len(seen.AllUIDs()) >= 1
	}, deadline, 10*time.Millisecond)
}

func TestFilesIn(t *testing.T) {
	t.Parallel()
	o := receiving(t, func(o *email.Options) { o.FileLimit = 1000 })
	msg := o.say(emailtest.Letter{
		ID: "m1@x", Subject: "Files", Text: "Look.\n\nAm Montag schrieb Bob:\n> the earlier mail",
		Files: map[string]string{"notes.txt": "remember", "../../größe.csv": "a,b", "big.txt": strings.Repeat("x", 2000)},
	})
	require.Equal(t, "Subject: Files\n\nLook.", msg.Text)
	saved := map[string]string{}
	got, err := o.channel.Enrich(o.ctx, channels.Enrichment{Message: msg, Save: func(name string, content io.Reader) (string, error) {
		b, err := io.ReadAll(content)
		saved[name] = string(b)
		return name, err
	}})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"notes.txt": "remember", "größe.csv": "a,b", "quoted.txt": "Am Montag schrieb Bob:\n> the earlier mail"}, saved)
	require.Len(t, got.Notes, 1)
	require.Contains(t, got.Notes[0], "big.txt (2 kB) is larger than")
}

func TestCommands(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	for i, test := range []struct{ text, want string }{
		{"/stop", "/stop"},
		{"Stop.", "/stop"},
		{"/model openai/gpt-5\n-- \nAna\nExample Inc.", "/model openai/gpt-5"},
		{"new\n\n-- \nAna", "/new"},
		{"please stop", "please stop"},
		{"approve\n\nOn Monday, Holdfast wrote:\n> May I?", "/approve"},
	} {
		msg := o.say(emailtest.Letter{ID: fmt.Sprintf("m%d@x", i), Refers: []string{"root@x"}, Text: test.text})
		require.Equal(t, test.want, msg.Text)
	}
}

func TestApproval(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	msg := o.say(emailtest.Letter{ID: "m1@x", Subject: "Do it", Text: "push"})
	question := reply(msg, "q1", "May I run `git push`?")
	question.Approval = "abcdefgh"
	asked, err := o.channel.Send(o.ctx, question)
	require.NoError(t, err)
	require.Contains(t, o.mails()[0].text, "Reply with **approve** or **deny**")
	found, err := o.channel.Find(o.ctx, question)
	require.NoError(t, err)
	require.True(t, found.Posted)
	for i, test := range []struct{ text, want string }{
		{"Approve\n\nSent from my phone", "/approve abcdefgh"},
		{"**deny**", "/deny abcdefgh"},
		{"yes", "/approve abcdefgh"},
		{"approve zzzzzzzz", "approve zzzzzzzz"},
		{"what does it do?", "what does it do?"},
	} {
		got := o.say(emailtest.Letter{ID: fmt.Sprintf("r%d@x", i), Refers: []string{"m1@x", asked.PlatformID}, Text: test.text})
		require.Equal(t, test.want, got.Text)
		require.Equal(t, msg.Thread, got.Thread)
	}
}

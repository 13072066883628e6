package email_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/email"
	"github.com/holdfast-ai/holdfast/channels/email/emailtest"
)

// results puts what the agent's server found into a mail, above the rest.
func results(raw []byte, fields ...string) []byte {
	text := string(raw)
	text = text[strings.Index(text, "Received: "):] // without what the letter says
	for _, field := range fields {
		text = "Authentication-Results: " + field + "\r\n" + text
	}
	return []byte(text)
}

func TestForgedSenders(t *testing.T) {
	t.Parallel()
	refused := map[string][]string{
		"nothing was checked":       nil,
		"DMARC failed":              {emailtest.AuthservID + "; dmarc=fail header.from=example.com"},
		"DMARC of another domain":   {emailtest.AuthservID + "; dmarc=pass header.from=evil.example"},
		"another server says so":    {"mx.evil.example; dmarc=pass header.from=example.com"},
		"no policy, nothing passed": {emailtest.AuthservID + "; dmarc=none; spf=none; dkim=none"},
		"SPF of another domain":     {emailtest.AuthservID + "; spf=pass smtp.mailfrom=x@evil.example"},
		"DKIM of another domain":    {emailtest.AuthservID + "; dkim=pass header.d=evil.example"},
		"DKIM of a top domain":      {emailtest.AuthservID + "; dkim=pass header.d=com"},
		"in a comment":              {emailtest.AuthservID + "; none (; dmarc=pass header.from=example.com)"},
		"in a quoted string":        {emailtest.AuthservID + "; spf=fail reason=\"; dmarc=pass header.from=example.com\""},
		"the sender's own below":    {emailtest.AuthservID + "; dkim=pass header.d=example.com", emailtest.AuthservID + "; dkim=none; spf=fail smtp.mailfrom=example.com"},
		"DMARC failed on top":       {emailtest.AuthservID + "; dmarc=pass header.from=example.com", emailtest.AuthservID + "; dmarc=fail header.from=example.com"},
	}
	accepted := map[string][]string{
		"DMARC":            {emailtest.AuthservID + " 1; dmarc=pass (p=none dis=none) header.from=example.com"},
		"two fields":       {"MX.example.org; dmarc=pass header.from=example.com", emailtest.AuthservID + "; dkim=fail header.d=example.com"},
		"SPF":              {emailtest.AuthservID + "; spf=pass smtp.mailfrom=bounce@mail.example.com"},
		"DKIM":             {emailtest.AuthservID + ";\r\n dkim=fail header.d=other.example;\r\n dkim=pass (2048-bit key; x) header.d=example.com header.i=@example.com"},
		"beside another's": {"other.example; dmarc=fail", emailtest.AuthservID + "; dmarc=pass header.from=example.com"},
	}
	o := receiving(t, nil)
	i := 0
	letter := func() []byte {
		i++
		return emailtest.Letter{From: emailtest.Ana, ID: fmt.Sprintf("m%d@x", i), Text: "hi"}.Raw()
	}
	for why, fields := range refused {
		o.awaitRead(o.Put(results(letter(), fields...)))
		require.Empty(t, o.backend.Accepted(), why)
	}
	for why, fields := range accepted {
		n := len(o.backend.Accepted())
		o.awaitRead(o.Put(results(letter(), fields...)))
		require.Len(t, o.backend.Accepted(), n+1, why)
	}
	// Fields below Received are the sender's.
	raw := strings.Replace(string(results(letter(), emailtest.AuthservID+"; none")), "\r\nAuthentication-Results", "\r\nX-Was", 1)
	raw = strings.Replace(raw, "\r\nMime-Version", "\r\nAuthentication-Results: "+emailtest.AuthservID+"; dmarc=pass header.from=example.com\r\nMime-Version", 1)
	n := len(o.backend.Accepted())
	o.awaitRead(o.Put([]byte(raw)))
	require.Len(t, o.backend.Accepted(), n)
	require.Empty(t, o.Sent(), "a forged sender is told nothing")
}

func TestTrust(t *testing.T) {
	t.Parallel()
	nobody := receiving(t, func(o *email.Options) { o.AuthservID = "" })
	nobody.awaitRead(nobody.Say(emailtest.Letter{From: emailtest.Ana, ID: "m@x", Text: "hi"}))
	require.Empty(t, nobody.backend.Accepted())
	all := receiving(t, func(o *email.Options) { o.AuthservID, o.TrustSender = "", true })
	all.say(emailtest.Letter{ID: "m@x", Forged: true, Text: "hi"})
}

func TestAuthors(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	for i, from := range []string{
		"ana@example.com, bob@example.net", "", "\"ana@example.com\" <eve@example.com>", "ana@example.com <eve@example.com>",
		"<>", "ana", "ana@example.com\r\nFrom: eve@example.com", "=?utf-8?q?ana=40example.com?= <eve@example.com>",
	} {
		raw := strings.Replace(string(emailtest.Letter{From: "ana@example.com", ID: fmt.Sprintf("m%d@x", i), Text: "hi"}.Raw()), "From: ana@example.com", "From: "+from, 1)
		o.awaitRead(o.Put([]byte(raw)))
		require.Empty(t, o.backend.Accepted(), from)
	}
	raw := strings.Replace(string(emailtest.Letter{From: "ana@example.com", ID: "ok@x", Text: "hi"}.Raw()), "From: ana@example.com", "From: =?utf-8?q?Ana_=C3=96?= <ANA@Example.com>", 1)
	o.Put([]byte(raw))
	require.Equal(t, "Ana Ö", o.accepted(1)[0].SenderName)
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	o := receiving(t, nil)
	for i := range 3 {
		o.awaitRead(o.Say(emailtest.Letter{From: "eve@example.com", ID: fmt.Sprintf("e%d@x", i), Subject: "Hello", Text: "hi"}))
	}
	sent := openMail(t, o.AwaitSent(o.ctx, 1)[0])
	require.Equal(t, "eve@example.com", sent.to)
	require.Contains(t, sent.text, "holdfast pairing approve")
	require.Equal(t, "Re: Hello", sent.field(t, "Subject"))
	require.NotEqual(t, "no", sent.field(t, "Auto-Submitted"))
	require.Empty(t, o.backend.Accepted())
	for i := range 40 { // spam does not make us write to the world
		o.awaitRead(o.Say(emailtest.Letter{From: fmt.Sprintf("spam%d@example.com", i), ID: fmt.Sprintf("s%d@x", i), Text: "buy"}))
	}
	o.stop()
	require.LessOrEqual(t, len(o.Sent()), 20)

	silent := receiving(t, func(o *email.Options) { o.Pairing = false })
	silent.awaitRead(silent.Say(emailtest.Letter{From: "eve@example.com", ID: "e@x", Text: "hi"}))
	silent.stop()
	require.Empty(t, silent.Sent())
}

func TestAutomaticMail(t *testing.T) {
	t.Parallel()
	o := receiving(t, func(o *email.Options) {
		o.AllowUsers = []string{"*"}
	})
	for i, header := range []map[string]string{
		{"Auto-Submitted": "auto-replied"},
		{"Auto-Submitted": "auto-generated (why)"},
		{"Auto-Submitted": "Auto-Notified; x=y"},
		{"Precedence": "bulk"},
		{"Precedence": "list"},
		{"List-Id": "<l.example.com>"},
		{"List-Unsubscribe": "<mailto:x@example.com>"},
		{"X-Auto-Response-Suppress": "OOF, AutoReply"},
		{"X-Autoreply": "yes"},
		{"Return-Path": "<>"},
	} {
		o.awaitRead(o.Say(emailtest.Letter{From: emailtest.Ana, ID: fmt.Sprintf("m%d@x", i), Text: "away", Header: header}))
		require.Empty(t, o.backend.Accepted(), "%v", header)
	}
	for i, from := range []string{"MAILER-DAEMON@example.com", "postmaster@example.com", "no-reply@example.com", "noreply@example.com", emailtest.Agent} {
		o.awaitRead(o.Say(emailtest.Letter{From: from, ID: fmt.Sprintf("f%d@x", i), Text: "away"}))
		require.Empty(t, o.backend.Accepted(), from)
	}
	require.Empty(t, o.Sent())
	o.say(emailtest.Letter{ID: "ok@x", Text: "hi", Header: map[string]string{"Auto-Submitted": "no", "Return-Path": "<ana@example.com>"}})

	// Two agents do not answer each other.
	first := o.accepted(1)[0]
	o.deliver(reply(first, "o1", "answer"))
	ours := o.Sent()[0].Raw
	o.awaitRead(o.Put([]byte(strings.Replace(string(ours), emailtest.Agent, "other-agent@example.org", 1))))
	require.Len(t, o.backend.Accepted(), 1)
}

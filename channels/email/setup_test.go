package email_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gomail "github.com/emersion/go-message/mail"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/email"
	"github.com/holdfast-ai/holdfast/channels/email/emailtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const deadline = time.Minute // only a hanging test reaches it

// office is a channel with its mail servers.
type office struct {
	*emailtest.Server
	t       *testing.T
	ctx     context.Context
	options email.Options
	channel *email.Channel
	backend *channeltest.Backend
	cursors chan string // as they are stored
	stop    func()
}

func options(s *emailtest.Server) email.Options {
	return email.Options{
		Address: emailtest.Agent, Name: "Holdfast", Password: emailtest.Password,
		IMAP: email.Server{Address: s.IMAP(), Security: email.SecurityTLS}, SMTP: email.Server{Address: s.SMTP(), Security: email.SecurityStartTLS},
		AllowUsers: []string{emailtest.Ana, emailtest.Bob}, AuthservID: emailtest.AuthservID, Pairing: true, BlindCopy: true, MarkSeen: true,
		FileLimit: 1 << 20, TLS: s.TLS, Settle: 500 * time.Millisecond,
	}
}

// open returns a channel that does not receive yet.
func open(t *testing.T, change func(*email.Options), settings ...emailtest.Option) *office {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	s := emailtest.Start(t, settings...)
	o := options(s)
	if change != nil {
		change(&o)
	}
	channel, err := email.New(o)
	require.NoError(t, err)
	return &office{Server: s, t: t, ctx: ctx, options: o, channel: channel, backend: channeltest.NewBackend(nil), cursors: make(chan string, 1000), stop: func() {}}
}

// receiving returns a channel that receives.
func receiving(t *testing.T, change func(*email.Options), settings ...emailtest.Option) *office {
	t.Helper()
	o := open(t, change, settings...)
	o.run()
	return o
}

// run starts to receive, and waits until the mailbox was looked at.
func (o *office) run() {
	o.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(o.ctx))
	ended := make(chan error, 1)
	backend := noting{o.backend, o}
	before, err := o.backend.Cursor(ctx, email.Name, "INBOX")
	require.NoError(o.t, err)
	go func() { ended <- o.channel.Run(ctx, backend) }()
	o.stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(o.t, <-ended)
	})
	o.t.Cleanup(o.stop)
	if before == "" {
		o.awaitCursor(func(string) bool { return true })
	}
}

// noting tells of the cursors that are stored.
type noting struct {
	*channeltest.Backend
	o *office
}

// SetCursor implements channels.Cursors.
func (n noting) SetCursor(ctx context.Context, channel, name, cursor string) error {
	err := n.Backend.SetCursor(ctx, channel, name, cursor)
	n.o.cursors <- cursor
	return err
}

func (o *office) awaitCursor(until func(string) bool) {
	o.t.Helper()
	for {
		select {
		case cursor := <-o.cursors:
			if until(cursor) {
				return
			}
		case <-o.ctx.Done():
			o.t.Fatal("the cursor does not move")
		}
	}
}

// awaitRead waits until the mail with a UID was read.
func (o *office) awaitRead(uid uint32) {
	o.t.Helper()
	o.awaitCursor(func(cursor string) bool { return lastOf(cursor) >= uid })
}

func lastOf(cursor string) (uid uint32) {
	var validity uint32
	_, _ = fmt.Sscanf(cursor, "%d:%d:", &validity, &uid)
	return uid
}

// accepted waits until n mails were accepted, and returns all.
func (o *office) accepted(n int) []domain.Inbound {
	o.t.Helper()
	require.NoError(o.t, o.backend.Await(o.ctx, func(c channeltest.Counts) bool { return c.Accepted >= n }), "accepted: %d", len(o.backend.Accepted()))
	return o.backend.Accepted()
}

// say has Ana write a mail and returns it as it was accepted.
func (o *office) say(l emailtest.Letter) domain.Inbound {
	o.t.Helper()
	if l.From == "" {
		l.From = emailtest.Ana
	}
	n := len(o.backend.Accepted())
	o.Say(l)
	return o.accepted(n + 1)[n]
}

// reply returns a reply to an accepted mail.
func reply(to domain.Inbound, id, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: email.Name, Chat: to.Chat, Thread: to.Thread, ReplyTo: to.PlatformID, Text: text}
}

// deliver sends a message as the activity Deliver does: after an attempt that left no word it
// looks for the message first.
func (o *office) deliver(msg domain.Outbound) {
	o.t.Helper()
	for claimed := false; ; claimed = true {
		require.NoError(o.t, o.ctx.Err())
		if claimed {
			found, err := o.channel.Find(o.ctx, msg)
			if err == nil && found.Posted {
				return
			}
			if err != nil {
				continue
			}
		}
		if _, err := o.channel.Send(o.ctx, msg); err == nil {
			return
		}
	}
}

// opened is a mail as its recipient opens it.
type opened struct {
	gomail.Header
	to    string
	text  string
	html  string
	files map[string]string
}

func (m opened) field(t *testing.T, name string) string {
	value, err := m.Text(name)
	require.NoError(t, err)
	return value
}

func openMail(t testing.TB, mail emailtest.Mail) opened {
	r, err := gomail.CreateReader(bytes.NewReader(mail.Raw))
	require.NoError(t, err)
	m := opened{Header: r.Header, to: mail.To, files: map[string]string{}}
	for {
		part, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return m
		}
		require.NoError(t, err)
		content, err := io.ReadAll(part.Body)
		require.NoError(t, err)
		switch h := part.Header.(type) {
		case *gomail.InlineHeader:
			kind, _, _ := h.ContentType()
			text := strings.TrimSuffix(strings.ReplaceAll(string(content), "\r\n", "\n"), "\n")
			if kind == "text/html" {
				m.html = text
			} else {
				m.text = text
			}
		case *gomail.AttachmentHeader:
			name, err := h.Filename()
			require.NoError(t, err)
			m.files[name] = string(content)
		}
	}
}

// mails returns what was sent, opened.
func (o *office) mails() (all []opened) {
	for _, mail := range o.Sent() {
		all = append(all, openMail(o.t, mail))
	}
	return all
}

func texts(all []domain.Inbound) (texts []string) {
	for _, msg := range all {
		texts = append(texts, msg.Text)
	}
	return slices.Clip(texts)
}

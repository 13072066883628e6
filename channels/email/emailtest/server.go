// Package emailtest runs mail servers for tests: an IMAP and an SMTP server on loopback that
// share the mailboxes of the agent, and lose answers, cut connections and refuse on demand.
// They are go-imap's and go-smtp's, with certificates of a CA made for the test.
package emailtest

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// The agent's account, and what the servers call themselves.
const (
	Agent      = "agent@example.org"
	Password   = "correct horse"
	AuthservID = "mx.example.org"
	Ana        = "ana@example.com"
	Bob        = "bob@example.net"
)

// Server is the two servers. Safe for concurrent use.
type Server struct {
	t    testing.TB
	user *imapmemserver.User
	imap *listener
	smtp *listener
	cert tls.Certificate
	// TLS is what a client needs to trust the servers.
	TLS *tls.Config

	mu      sync.Mutex
	changed chan struct{} // closed and replaced at every change
	sent    []Mail
	idles   int // how often a client began to wait for mail
	faults  faults
}

// Mail is a mail that left for somebody else.
type Mail struct {
	From, To string // of the envelope
	Raw      []byte
}

// faults is what goes wrong next.
type faults struct {
	refuse  []*smtp.SMTPError // the next mails
	lose    int               // answers to mails that were accepted
	gone    map[string]bool   // addresses that do not exist
	appends int               // copies that cannot be kept
	fetches int               // mails that cannot be read
	delay   time.Duration     // of mail for the agent
}

// Option is an option of [Start].
type Option func(*settings)

type settings struct{ caps imap.CapSet }

// WithoutIdle makes an IMAP server that knows only the oldest commands.
func WithoutIdle() Option {
	return func(s *settings) { s.caps = imap.CapSet{imap.CapIMAP4rev1: {}} }
}

// Start starts the servers. They end with the test.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	chosen := settings{caps: imap.CapSet{
		imap.CapIMAP4rev1: {}, imap.CapIdle: {}, imap.CapUIDPlus: {}, imap.CapMove: {}, imap.CapSpecialUse: {}, imap.CapNamespace: {},
	}}
	for _, option := range options {
		option(&chosen)
	}
	s := &Server{t: t, user: imapmemserver.NewUser(Agent, Password), changed: make(chan struct{}), faults: faults{gone: map[string]bool{}}}
	s.cert, s.TLS = certificate(t)
	require.NoError(t, s.user.Create("INBOX", nil))
	require.NoError(t, s.user.Create(SentMailbox, nil))
	s.imap, s.smtp = s.listen(), s.listen()
	s.serveIMAP(chosen.caps)
	s.serveSMTP()
	return s
}

// IMAP returns the address of the IMAP server, which expects TLS.
func (s *Server) IMAP() string { return s.imap.Addr().String() }

// SMTP returns the address of the SMTP server, which expects STARTTLS.
func (s *Server) SMTP() string { return s.smtp.Addr().String() }

func (s *Server) serveIMAP(caps imap.CapSet) {
	accounts := imapmemserver.New()
	accounts.AddUser(s.user)
	server := imapserver.New(&imapserver.Options{
		NewSession: func(*imapserver.Conn) (imapserver.Session, *imapserver.GreetingData, error) {
			return session{accounts.NewSession().(imapserver.SessionIMAP4rev2), s}, nil, nil
		},
		Caps: caps, InsecureAuth: true, Logger: log.New(io.Discard, "", 0),
	})
	serve(s.t, func() error {
		return server.Serve(tls.NewListener(s.imap, &tls.Config{Certificates: []tls.Certificate{s.cert}, MinVersion: tls.VersionTLS12}))
	}, server.Close, s.imap)
}

func (s *Server) serveSMTP() {
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &envelope{server: s, conn: c}, nil }))
	server.Domain, server.ErrorLog = AuthservID, log.New(io.Discard, "", 0)
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{s.cert}, MinVersion: tls.VersionTLS12}
	server.MaxMessageBytes, server.ReadTimeout, server.WriteTimeout = 50<<20, time.Minute, time.Minute
	serve(s.t, func() error { return server.Serve(s.smtp) }, server.Close, s.smtp)
}

// serve runs a server until the test ends.
func serve(t testing.TB, run, end func() error, listener net.Listener) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = run() // it ends with the test
	}()
	t.Cleanup(func() {
		_ = end()
		_ = listener.Close() // the server may not have known it yet
		<-done
	})
}

// Put delivers a mail to the agent and returns its UID.
func (s *Server) Put(raw []byte) uint32 { return s.PutAt(raw, time.Now()) }

// PutAt delivers a mail to the agent as one that came at that time.
func (s *Server) PutAt(raw []byte, at time.Time) uint32 {
	stored, err := s.user.Append("INBOX", literal{bytes.NewReader(raw)}, &imap.AppendOptions{Time: at})
	if err != nil {
		s.t.Error(err)
		return 0
	}
	return uint32(stored.UID)
}

type literal struct{ *bytes.Reader }

// Size implements [imap.LiteralReader].
func (l literal) Size() int64 { return l.Reader.Size() }

// Sent returns the mails that left for others, in order, copies included.
func (s *Server) Sent() []Mail {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Mail(nil), s.sent...)
}

// AwaitSent waits until n mails left for others, and returns all.
func (s *Server) AwaitSent(ctx context.Context, n int) []Mail {
	s.t.Helper()
	require.NoError(s.t, s.until(ctx, func() bool { return len(s.sent) >= n }), "%d mails sent", len(s.Sent()))
	return s.Sent()
}

// Idles returns how often a client began to wait for mail.
func (s *Server) Idles() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.idles
}

// AwaitIdle waits until a client began to wait for mail for the nth time. The error is that
// of ctx.
func (s *Server) AwaitIdle(ctx context.Context, n int) error {
	return s.until(ctx, func() bool { return s.idles >= n })
}

func (s *Server) until(ctx context.Context, reached func() bool) error {
	for {
		s.mu.Lock()
		done, changed := reached(), s.changed
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// change wakes the waiters. The lock is held.
func (s *Server) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) listen() *listener {
	l, err := new(net.ListenConfig).Listen(s.t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(s.t, err)
	return &listener{Listener: l, open: map[net.Conn]bool{}}
}

package emailtest

import (
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// Refuse makes the SMTP server refuse the next n mails with a code such as 451.
func (s *Server) Refuse(n, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range n {
		s.faults.refuse = append(s.faults.refuse, &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 0, 0}, Message: "not now"})
	}
}

// LoseAnswers makes the SMTP server cut the connection after it accepted the next n mails,
// before it says so.
func (s *Server) LoseAnswers(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.lose = n
}

// Gone makes the SMTP server refuse an address for good.
func (s *Server) Gone(address string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.gone[address] = true
}

// DelayCopies delays what is sent to the agent.
func (s *Server) DelayCopies(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.delay = by
}

// FailAppends makes the IMAP server refuse to keep the next n mails.
func (s *Server) FailAppends(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.appends = n
}

// FailFetches makes the IMAP server refuse to give out mail n times.
func (s *Server) FailFetches(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults.fetches = n
}

// Cut cuts all connections.
func (s *Server) Cut() {
	s.imap.cut()
	s.smtp.cut()
}

// Away makes both servers cut every connection at once, until it is called again.
func (s *Server) Away(away bool) {
	for _, l := range []*listener{s.imap, s.smtp} {
		l.mu.Lock()
		l.away = away
		l.mu.Unlock()
		if away {
			l.cut()
		}
	}
}

// Renumber makes the IMAP server forget the UIDs of the agent's mail and give it new ones
// (another UIDVALIDITY).
func (s *Server) Renumber(received func(raw []byte) time.Time) {
	all := s.Mailbox("INBOX")
	require.NoError(s.t, s.user.Delete("INBOX"))
	require.NoError(s.t, s.user.Create("INBOX", nil))
	for _, raw := range all {
		s.PutAt(raw, received(raw))
	}
	s.Cut()
}

// listener can cut its connections.
type listener struct {
	net.Listener
	mu   sync.Mutex
	away bool
	open map[net.Conn]bool
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		l.mu.Lock()
		if !l.away {
			l.open[conn] = true
			l.mu.Unlock()
			return conn, nil
		}
		l.mu.Unlock()
		_ = conn.Close()
	}
}

func (l *listener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.open {
		_ = conn.Close()
		delete(l.open, conn)
	}
}

// session is a session of the IMAP server, with faults.
type session struct {
	imapserver.SessionIMAP4rev2
	server *Server
}

var errNotNow = &imap.Error{Type: imap.StatusResponseTypeNo, Text: "not now"}

// Append implements imapserver.Session.
func (s session) Append(box string, r imap.LiteralReader, options *imap.AppendOptions) (*imap.AppendData, error) {
	if s.server.fails(&s.server.faults.appends) {
		_, _ = io.Copy(io.Discard, r)
		return nil, errNotNow
	}
	return s.SessionIMAP4rev2.Append(box, r, options)
}

// Fetch implements imapserver.Session.
func (s session) Fetch(w *imapserver.FetchWriter, set imap.NumSet, options *imap.FetchOptions) error {
	if s.server.fails(&s.server.faults.fetches) {
		return errNotNow
	}
	return s.SessionIMAP4rev2.Fetch(w, set, options)
}

// List implements imapserver.Session: the library's does not know the purpose of a mailbox.
func (s session) List(w *imapserver.ListWriter, _ string, _ []string, options *imap.ListOptions) error {
	for _, box := range []imap.ListData{{Mailbox: "INBOX"}, {Mailbox: SentMailbox, Attrs: []imap.MailboxAttr{imap.MailboxAttrSent}}} {
		if !options.ReturnSpecialUse {
			box.Attrs = nil
		}
		box.Delim = '/'
		if err := w.WriteList(&box); err != nil {
			return err
		}
	}
	return nil
}

// Idle implements imapserver.Session. The library's forgets what happened just before.
func (s session) Idle(w *imapserver.UpdateWriter, stop <-chan struct{}) error {
	s.server.mu.Lock()
	s.server.idles++
	s.server.change()
	s.server.mu.Unlock()
	for {
		if err := s.Poll(w, true); err != nil {
			return err
		}
		select {
		case <-stop:
			return nil
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// fails counts down and reports whether something fails.
func (s *Server) fails(left *int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *left == 0 {
		return false
	}
	*left--
	return true
}

// envelope is a session of the SMTP server.
type envelope struct {
	server *Server
	conn   *smtp.Conn
	known  bool // logged in
	from   string
	to     []string
}

// AuthMechanisms implements smtp.AuthSession.
func (*envelope) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth implements smtp.AuthSession.
func (e *envelope) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, username, password string) error {
		if username != Agent || password != Password {
			return smtp.ErrAuthFailed
		}
		e.known = true
		return nil
	}), nil
}

// Mail implements smtp.Session.
func (e *envelope) Mail(from string, _ *smtp.MailOptions) error {
	if !e.known {
		return smtp.ErrAuthRequired
	}
	e.from = from
	return nil
}

// Rcpt implements smtp.Session.
func (e *envelope) Rcpt(to string, _ *smtp.RcptOptions) error {
	e.server.mu.Lock()
	defer e.server.mu.Unlock()
	if e.server.faults.gone[to] {
		return &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
	}
	e.to = append(e.to, to)
	return nil
}

// Data implements smtp.Session.
func (e *envelope) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("read a mail: %w", err)
	}
	lost, delay, refused := e.server.take(e, raw)
	if refused != nil {
		return refused
	}
	for _, to := range e.to {
		if to == Agent {
			deliver := func() { e.server.Put(raw) }
			if delay == 0 {
				deliver()
			} else {
				time.AfterFunc(delay, deliver)
			}
		}
	}
	if lost {
		_ = e.conn.Conn().Close()
	}
	return nil
}

// take stores a mail for others.
func (s *Server) take(e *envelope, raw []byte) (lost bool, delay time.Duration, refused error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.faults.refuse) > 0 {
		refused, s.faults.refuse = s.faults.refuse[0], s.faults.refuse[1:]
		return false, 0, refused
	}
	for _, to := range e.to {
		if to != Agent {
			s.sent = append(s.sent, Mail{From: e.from, To: to, Raw: raw})
		}
	}
	s.change()
	if lost = s.faults.lose > 0; lost {
		s.faults.lose--
	}
	return lost, s.faults.delay, nil
}

// Reset implements smtp.Session.
func (e *envelope) Reset() { e.from, e.to = "", nil }

// Logout implements smtp.Session.
func (*envelope) Logout() error { return nil }

package email

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// mailbox is a connection to the IMAP server with a mailbox selected.
type mailbox struct {
	*imapclient.Client
	validity uint32        // UIDVALIDITY
	next     imap.UID      // UIDNEXT when it was selected
	news     chan struct{} // has an element after the mailbox grew
	release  func() bool
}

// open connects to the IMAP server and selects a mailbox.
func (p *platform) open(ctx context.Context, name string) (*mailbox, error) {
	conn, release, err := p.dial(ctx, p.o.IMAP)
	if err != nil {
		return nil, err
	}
	m := &mailbox{news: make(chan struct{}, 1), release: release}
	options := &imapclient.Options{
		TLSConfig:             p.tls(p.o.IMAP),
		UnilateralDataHandler: &imapclient.UnilateralDataHandler{Mailbox: m.grew},
	}
	if p.o.IMAP.Security == SecurityStartTLS {
		if m.Client, err = imapclient.NewStartTLS(conn, options); err != nil {
			release()
			_ = conn.Close()
			return nil, fmt.Errorf("encrypt the connection to %s: %w", p.o.IMAP.Address, err)
		}
	} else {
		m.Client = imapclient.New(conn, options)
	}
	if err := m.guarded(func() error { return p.enter(m, name) }); err != nil {
		m.leave()
		return nil, err
	}
	return m, nil
}

func (p *platform) enter(m *mailbox, name string) error {
	if err := m.Login(p.o.Username, p.o.Password).Wait(); err != nil {
		if refusedBy(err) {
			return misconfigured("log in to the IMAP server", "channels.email.username and password", p.redact(err))
		}
		return fmt.Errorf("log in to the IMAP server: %w", p.redact(err))
	}
	return p.selects(m, name)
}

// selects selects a mailbox.
func (p *platform) selects(m *mailbox, name string) error {
	selected, err := m.Select(name, nil).Wait()
	if err != nil {
		if refusedBy(err) {
			return misconfigured("open the mailbox "+name, "channels.email.mailbox and sent", err)
		}
		return fmt.Errorf("open the mailbox %s: %w", name, err)
	}
	m.validity, m.next = selected.UIDValidity, selected.UIDNext
	return nil
}

// refusedBy reports whether an error is the server's answer to a command.
func refusedBy(err error) bool {
	answer, ok := errors.AsType[*imap.Error](err)
	return ok && answer.Type == imap.StatusResponseTypeNo
}

func (m *mailbox) grew(data *imapclient.UnilateralDataMailbox) {
	if data.NumMessages == nil {
		return
	}
	select {
	case m.news <- struct{}{}:
	default:
	}
}

// leave closes the connection.
func (m *mailbox) leave() {
	m.release()
	_ = m.Close() // nothing is left to be done on it
}

// with calls do with a connection beside the one that waits for mail. do makes only calls of
// the mailbox, and what it finds counts only without an error.
func (p *platform) with(ctx context.Context, name string, do func(*mailbox) error) error {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return notSent(fmt.Errorf("%w: %w", errBusy, ctx.Err()))
	}
	defer func() { <-p.slots }()
	m, err := p.open(ctx, name)
	if err != nil {
		return notSent(err)
	}
	defer m.leave()
	if err := m.guarded(func() error { return do(m) }); err != nil {
		return notSent(err)
	}
	return nil
}

// closedGrace is how long a call may take to notice that its connection is closed.
const closedGrace = 2 * time.Second

var errClosed = errors.New("the connection to the IMAP server was closed")

// guarded makes calls on the connection. It does not wait for those that the library never
// ends: a command that begins just after the connection was closed.
func (m *mailbox) guarded(calls func() error) error {
	done := make(chan error, 1)
	go func() { done <- calls() }()
	select {
	case err := <-done:
		return err
	case <-m.Closed():
	}
	timer := time.NewTimer(closedGrace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return errClosed
	}
}

// search returns the UIDs that match, in ascending order.
func (m *mailbox) search(criteria *imap.SearchCriteria) ([]imap.UID, error) {
	found, err := m.UIDSearch(criteria, nil).Wait()
	if err != nil {
		return nil, fmt.Errorf("search the mailbox: %w", err)
	}
	uids := found.AllUIDs()
	slices.Sort(uids)
	return uids, nil
}

// withID matches mail by its Message-ID, or a part of it.
func withID(id string) *imap.SearchCriteria {
	return &imap.SearchCriteria{Header: []imap.SearchCriteriaHeaderField{{Key: "Message-ID", Value: id}}}
}

// inThread matches the mail of a thread.
func inThread(root string) *imap.SearchCriteria {
	referring := imap.SearchCriteria{Header: []imap.SearchCriteriaHeaderField{{Key: "References", Value: "<" + root + ">"}}}
	return &imap.SearchCriteria{Or: [][2]imap.SearchCriteria{{*withID("<" + root + ">"), referring}}}
}

// stored is a mail in a mailbox.
type stored struct {
	*mail
	uid imap.UID
	at  time.Time // when it came
}

const (
	maxMail   = 50 << 20 // bytes of a mail that is read as a whole
	firstPart = 1 << 20  // bytes that are read of a larger one
)

// fetch reads a mail; nil if it is not there any more.
func (m *mailbox) fetch(uid imap.UID) (*stored, error) {
	about, err := m.Fetch(imap.UIDSetNum(uid), &imap.FetchOptions{UID: true, RFC822Size: true, InternalDate: true}).Collect()
	if err != nil || len(about) == 0 {
		return nil, err
	}
	section := &imap.FetchItemBodySection{Peek: true}
	if about[0].RFC822Size > maxMail {
		section.Partial = &imap.SectionPartial{Size: firstPart}
	}
	content, err := m.Fetch(imap.UIDSetNum(uid), &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{section}}).Collect()
	if err != nil || len(content) == 0 || len(content[0].BodySection) == 0 {
		return nil, err
	}
	read := parse(content[0].BodySection[0].Bytes)
	read.partial = section.Partial != nil
	return &stored{mail: read, uid: uid, at: about[0].InternalDate}, nil
}

// fetchAll reads the last n mails of uids.
func (m *mailbox) fetchAll(uids []imap.UID, n int) (all []*stored, err error) {
	for _, uid := range uids[max(0, len(uids)-n):] {
		s, err := m.fetch(uid)
		if err != nil {
			return nil, fmt.Errorf("read a mail: %w", err)
		}
		if s != nil {
			all = append(all, s)
		}
	}
	return all, nil
}

// sentMailbox is the mailbox for sent mail, once it is known.
type sentMailbox struct {
	mu   sync.Mutex
	name string
}

// sentNames are names of the mailbox for sent mail where the server does not say.
var sentNames = []string{"sent", "sent items", "sent messages", "inbox.sent"}

// sentIn returns the mailbox for sent mail, which it creates if there is none.
func (p *platform) sentIn(m *mailbox) (string, error) {
	p.sent.mu.Lock()
	defer p.sent.mu.Unlock()
	if p.sent.name != "" {
		return p.sent.name, nil
	}
	name, err := p.sentName(m)
	if err != nil {
		return "", err
	}
	if name == "" {
		name = "Sent"
		if err := m.Create(name, nil).Wait(); err != nil {
			return "", fmt.Errorf("create the mailbox %s: %w", name, err)
		}
	}
	p.sent.name = name
	return name, nil
}

// sentName returns the mailbox for sent mail; empty: there is none.
func (p *platform) sentName(m *mailbox) (string, error) {
	if p.o.Sent != "" {
		return p.o.Sent, nil
	}
	all, err := m.List("", "*", &imap.ListOptions{ReturnSpecialUse: m.Caps().Has(imap.CapSpecialUse)}).Collect()
	if err != nil {
		return "", fmt.Errorf("list the mailboxes: %w", err)
	}
	for _, box := range all {
		if slices.Contains(box.Attrs, imap.MailboxAttrSent) {
			return box.Mailbox, nil
		}
	}
	for _, box := range all {
		if slices.Contains(sentNames, strings.ToLower(box.Mailbox)) {
			return box.Mailbox, nil
		}
	}
	return "", nil
}

// hasIdle reports whether the server tells when mail comes.
func hasIdle(m *mailbox) bool { return m.Caps().Has(imap.CapIdle) }

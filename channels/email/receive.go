package email

import (
	"context"
	"fmt"
	"time"

	"github.com/emersion/go-imap/v2"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	batch     = 50          // mails that are read before they are accepted
	noIdle    = time.Minute // between two looks where the server does not tell
	maxTries  = 5           // to read a mail that the server does not give out
	overlap   = 48 * time.Hour
	staleMail = 30 * 24 * time.Hour
	maxRecent = 1000 // mails that are read again after the mailbox was numbered anew
)

// Receive implements [chat.Platform].
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	r := &receiver{platform: p, failed: map[imap.UID]int{}, senders: map[imap.UID]string{}}
	defer r.hangUp()
	return in.Poll(ctx, p.o.Mailbox, r.fetch)
}

// receiver reads the mailbox. It keeps one connection.
type receiver struct {
	*platform
	box     *mailbox            // nil: not connected
	read    []imap.UID          // what the last call returned
	next    string              // and the cursor that it returned
	copies  []*stored           // blind copies of our own mail
	failed  map[imap.UID]int    // attempts to read a mail
	senders map[imap.UID]string // of mail that was put off
}

func (r *receiver) hangUp() {
	if r.box != nil {
		r.box.leave()
		r.box = nil
	}
}

// fetch implements [chat.Fetch]. If nothing is new, it waits for the server to tell, or for a
// few minutes.
func (r *receiver) fetch(ctx context.Context, from string) (news []chat.Delivery, next string, err error) {
	defer func() {
		if err != nil {
			r.hangUp() // whatever is wrong, a new connection knows
			if remote.As(err) == nil {
				err = &remote.Error{Service: Name, Err: err}
			}
		}
	}()
	if r.box == nil {
		if r.box, err = r.open(ctx, r.o.Mailbox); err != nil {
			return nil, from, err
		}
	}
	err = r.box.guarded(func() (err error) {
		news, next, err = r.look(ctx, from)
		return err
	})
	if err != nil {
		return nil, from, err
	}
	return news, next, nil
}

// look returns what is new, or waits for it.
func (r *receiver) look(ctx context.Context, from string) (news []chat.Delivery, next string, err error) {
	if from == r.next && len(r.read) > 0 {
		r.accepted()
	}
	at, known := parseCursor(from)
	if !known { // mail from before the first start is not answered
		return nil, cursor{validity: r.box.validity, last: r.box.next - 1, at: time.Now()}.String(), nil
	}
	renumbered := at.validity != r.box.validity
	uids, err := r.unread(at)
	if err != nil {
		return nil, from, err
	}
	if renumbered {
		uids = r.recent(uids, at)
		at = cursor{validity: r.box.validity, last: r.box.next - 1}
	}
	if len(uids) == 0 && !renumbered {
		return nil, from, r.wait(ctx)
	}
	news, at, err = r.readAll(uids, at)
	if err != nil {
		return nil, from, err
	}
	if len(news) == 0 && len(r.copies) == 0 && at.String() == from {
		return nil, from, r.wait(ctx)
	}
	at.at = time.Now()
	r.next = at.String()
	return news, r.next, nil
}

// unread returns what is to be read. If the server numbered the mailbox anew, that is what
// came since a while before the cursor: mail that was accepted before is recognized.
func (r *receiver) unread(at cursor) ([]imap.UID, error) {
	if at.validity != r.box.validity {
		uids, err := r.box.search(&imap.SearchCriteria{Since: at.at.Add(-overlap)})
		r.log.Warn("the server numbered the mailbox anew, reading recent mail again", "mails", len(uids))
		return uids[max(0, len(uids)-maxRecent):], err
	}
	var since imap.UIDSet
	since.AddRange(at.last+1, 0)
	found, err := r.box.search(&imap.SearchCriteria{UID: []imap.UIDSet{since}})
	if err != nil {
		return nil, err
	}
	var uids []imap.UID
	for _, uid := range at.later {
		if sender := r.senders[uid]; sender == "" || r.received.has(sender) {
			uids = append(uids, uid)
		}
	}
	for _, uid := range found {
		if uid > at.last { // the range includes the last mail, whatever its UID
			uids = append(uids, uid)
		}
	}
	return uids[:min(batch, len(uids))], nil
}

// recent leaves out mail that was written long before the cursor: a restored mailbox may
// say of all its mail that it just came.
func (r *receiver) recent(uids []imap.UID, at cursor) (recent []imap.UID) {
	for _, uid := range uids {
		s, err := r.box.fetch(uid)
		if err != nil || s == nil || !s.isOlder(at.at.Add(-staleMail)) {
			recent = append(recent, uid)
		}
	}
	return recent
}

// readAll reads mails and returns those that are for the agent, and the cursor after them.
func (r *receiver) readAll(uids []imap.UID, at cursor) (news []chat.Delivery, after cursor, err error) {
	r.read = nil
	for _, uid := range uids {
		s, err := r.box.fetch(uid)
		if err != nil {
			if r.failed[uid]++; r.failed[uid] < maxTries {
				return nil, at, fmt.Errorf("read the mail with the UID %d: %w", uid, err)
			}
			r.log.Error("a mail that the server does not give out is left out", "uid", uid, "err", err)
		}
		delete(r.failed, uid)
		if s == nil {
			at = at.with(uid, false)
			continue
		}
		post, putOff := r.post(s)
		at = at.with(uid, putOff)
		if post != nil {
			news = append(news, post)
			r.read = append(r.read, uid)
		}
	}
	return news, at, nil
}

// post returns a mail as a post, or nil if it is not for the agent. It reports whether it
// is to be read later, since its sender wrote too many.
func (r *receiver) post(s *stored) (post *chat.Post, putOff bool) {
	delete(r.senders, s.uid)
	if s.from == r.o.Address {
		if r.isOurs(s.id) {
			r.copies = append(r.copies, s)
		}
		return nil, false
	}
	if why := r.ignored(s.mail); why != "" {
		r.log.Info("mail ignored", "why", why, "from", s.from, "id", s.id)
		return nil, false
	}
	if !r.received.allow(s.from, s.id) {
		r.log.Warn("mail put off: its sender wrote too many in an hour", "from", s.from, "id", s.id)
		r.senders[s.uid] = s.from
		return nil, true
	}
	return r.postOf(s), false
}

// isOlder reports whether a mail says that it was written before.
func (s *stored) isOlder(than time.Time) bool {
	written, err := s.date()
	return err == nil && !written.IsZero() && written.Before(than)
}

// ignored returns why a mail is not answered; empty: it may be.
func (p *platform) ignored(m *mail) string {
	if m.from == "" {
		return "it has no author, or several"
	}
	if why := m.automatic(); why != "" {
		return why
	}
	switch {
	case p.o.TrustSender:
		return ""
	case p.o.AuthservID == "":
		return "its sender may be forged: set channels.email.authserv_id"
	}
	if why, ok := m.authentic(p.o.AuthservID); !ok {
		return "its sender may be forged: " + why
	}
	return ""
}

// accepted marks the mails as read that the last call returned.
func (r *receiver) accepted() {
	if r.o.MarkSeen {
		seen := &imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: []imap.Flag{imap.FlagSeen}}
		if err := r.box.Store(imap.UIDSetNum(r.read...), seen, nil).Close(); err != nil {
			r.log.Warn("mail not marked as read", "err", err)
		}
	}
	r.read = nil
}

// wait waits until the mailbox grew, or for a few minutes.
func (r *receiver) wait(ctx context.Context) error {
	r.dropCopies(ctx)
	pause := r.o.Poll
	if !hasIdle(r.box) {
		if !chat.Sleep(ctx, min(pause, noIdle)) {
			return ctx.Err()
		}
		return r.box.Noop().Wait()
	}
	idle, err := r.box.Idle()
	if err != nil {
		return fmt.Errorf("wait for mail: %w", err)
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-r.box.news:
	case <-timer.C:
	case <-r.box.Closed():
	case <-ctx.Done():
	}
	if err := idle.Close(); err != nil {
		return fmt.Errorf("wait for mail: %w", err)
	}
	if err := idle.Wait(); err != nil {
		return fmt.Errorf("wait for mail: %w", err)
	}
	return ctx.Err()
}

// dropCopies removes the blind copies of mail that is in the mailbox for sent mail. Nothing
// but our own mail is ever removed.
func (r *receiver) dropCopies(ctx context.Context) {
	if len(r.copies) == 0 || !r.box.Caps().Has(imap.CapUIDPlus) {
		r.copies = nil
		return
	}
	var left []*stored
	err := r.with(ctx, r.o.Mailbox, func(m *mailbox) error {
		sent, err := r.sentIn(m)
		if err != nil || sent == r.o.Mailbox {
			return err
		}
		if err := r.selects(m, sent); err != nil {
			return err
		}
		for _, s := range r.copies {
			kept, err := m.search(withID("<" + s.id + ">"))
			switch {
			case err != nil:
				return err
			case len(kept) > 0:
				if err := r.drop(s.uid); err != nil {
					return err
				}
			case time.Since(s.at) < time.Hour:
				left = append(left, s)
			}
		}
		return nil
	})
	if err != nil {
		r.log.Warn("blind copies of sent mail were not removed", "err", err)
	}
	r.copies = left
}

func (r *receiver) drop(uid imap.UID) error {
	deleted := &imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: []imap.Flag{imap.FlagDeleted}}
	if err := r.box.Store(imap.UIDSetNum(uid), deleted, nil).Close(); err != nil {
		return err
	}
	return r.box.UIDExpunge(imap.UIDSetNum(uid)).Close()
}

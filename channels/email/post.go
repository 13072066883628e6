package email

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/emersion/go-imap/v2"
	gomail "github.com/emersion/go-message/mail"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// Post implements [chat.Platform]. The mail answers the one that at names, or else the
// last of its thread.
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (id string, err error) {
	if msg.Approval != "" {
		msg.Text += "\n\nReply with **approve** or **deny**."
	}
	id = p.idOf(msg)
	var answers *mail
	err = p.with(ctx, p.o.Mailbox, func(m *mailbox) (err error) {
		answers, err = p.answered(m, at)
		return err
	})
	if err != nil {
		return "", err
	}
	raw, err := letter{
		id: id, from: gomail.Address{Name: p.o.Name, Address: p.o.Address}, to: at.Chat, subject: subjectOf(answers, msg),
		answers: answers, reply: at.ReplyTo != "", Message: msg,
	}.compose()
	if err != nil {
		return "", err
	}
	if err := p.submit(ctx, at.Chat, raw); err != nil {
		return "", err
	}
	if err := p.with(ctx, p.o.Mailbox, func(m *mailbox) error { return p.keep(m, id, raw) }); err != nil {
		p.log.Warn("a mail was sent, but no copy of it kept", "id", id, "err", err)
	}
	return id, nil
}

// answered returns the mail that is answered; nil if it is not there.
func (p *platform) answered(m *mailbox, at chat.Place) (*mail, error) {
	if at.ReplyTo != "" {
		found, err := m.last(withID("<"+at.ReplyTo+">"), func(s *stored) bool { return s.id == at.ReplyTo && s.from == at.Chat })
		if found != nil || err != nil {
			return found, err
		}
	}
	if at.Thread == "" {
		return nil, nil
	}
	found, err := m.last(inThread(at.Thread), func(s *stored) bool { return s.from == at.Chat })
	if found != nil || err != nil {
		return found, err
	}
	sent, err := p.sentIn(m)
	if err != nil {
		return nil, err
	}
	if err := p.selects(m, sent); err != nil {
		return nil, err
	}
	found, err = m.last(inThread(at.Thread), func(s *stored) bool { return slices.Contains(s.to, at.Chat) })
	if found == nil && err == nil { // it is gone: the reply is still part of the thread
		found = &mail{id: at.Thread, hasID: isID(at.Thread)}
	}
	return found, err
}

// last returns the last mail that matches; nil: none.
func (m *mailbox) last(criteria *imap.SearchCriteria, matches func(*stored) bool) (*mail, error) {
	uids, err := m.search(criteria)
	if err != nil {
		return nil, err
	}
	all, err := m.fetchAll(uids, 5)
	if err != nil {
		return nil, err
	}
	for _, s := range slices.Backward(all) {
		if matches(s) {
			return s.mail, nil
		}
	}
	return nil, nil
}

// keep puts a copy of a mail into the mailbox for sent mail, unless the server did.
func (p *platform) keep(m *mailbox, id string, raw []byte) error {
	sent, err := p.sentIn(m)
	if err != nil {
		return err
	}
	if err := p.selects(m, sent); err != nil {
		return err
	}
	there, err := m.search(withID("<" + id + ">"))
	if err != nil || len(there) > 0 {
		return err
	}
	save := m.Append(sent, int64(len(raw)), &imap.AppendOptions{Flags: []imap.Flag{imap.FlagSeen}, Time: time.Now()})
	_, err = save.Write(raw)
	if err = errors.Join(err, save.Close()); err != nil {
		return fmt.Errorf("save a copy: %w", err)
	}
	if _, err := save.Wait(); err != nil {
		return fmt.Errorf("save a copy: %w", err)
	}
	return nil
}

var errManyNotices = errors.New("too many people were told something in the last hour")

// Whisper implements [chat.Whisperer].
func (p *platform) Whisper(ctx context.Context, at chat.Place, person, text string) error {
	event := rand.Text()
	if !p.told.allow("", event) {
		return &remote.Error{Service: Name, Status: http.StatusTooManyRequests, RetryAfter: time.Hour, Err: errManyNotices}
	}
	if at.ReplyTo == "" {
		at.ReplyTo = at.Thread // the mail that opened the thread, if it did not continue one
	}
	at.Chat = person
	_, err := p.Post(ctx, at, chat.Message{ID: event, Part: 1, Text: text})
	return err
}

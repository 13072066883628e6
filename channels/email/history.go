package email

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	historyLimit = 50 // mails of a thread
	lookAgain    = 500 * time.Millisecond
)

// History implements [chat.History]. Only what the person in the chat wrote or was sent is
// returned. A mail of ours may still be on its way to us: it is looked for for a while.
func (p *platform) History(ctx context.Context, at chat.Place, q chat.Query) (posts []chat.Posted, err error) {
	if q.ID != "" {
		return p.find(ctx, q.ID)
	}
	err = p.with(ctx, p.o.Mailbox, func(m *mailbox) error {
		received, err := p.thread(m, at, q)
		if err != nil {
			return err
		}
		sent, err := p.sentIn(m)
		if err != nil {
			return err
		}
		if err := p.selects(m, sent); err != nil {
			return err
		}
		ours, err := p.thread(m, at, q)
		posts = append(received, ours...)
		return err
	})
	slices.SortStableFunc(posts, func(a, b chat.Posted) int { return a.SentAt.Compare(b.SentAt) })
	return posts, err
}

// thread returns the mails of a thread in the selected mailbox.
func (p *platform) thread(m *mailbox, at chat.Place, q chat.Query) (posts []chat.Posted, err error) {
	uids, err := m.search(inThread(at.Thread))
	if err != nil {
		return nil, err
	}
	all, err := m.fetchAll(uids, historyLimit)
	for _, s := range all {
		ours := s.from == p.o.Address
		switch {
		case s.from != at.Chat && !slices.Contains(s.to, at.Chat), !ours && p.ignored(s.mail) != "":
		case !s.at.After(q.After), !q.Before.IsZero() && !s.at.Before(q.Before):
		default:
			var files []domain.File
			if !ours {
				files = s.describe(true)
			}
			posts = append(posts, chat.Posted{
				ID: s.id, Sender: s.from, Name: s.name, Ours: ours, Text: s.text, SentAt: s.at, Files: files,
			})
		}
	}
	return posts, err
}

// find looks for a mail that we sent, by its outbox ID.
func (p *platform) find(ctx context.Context, id string) (posts []chat.Posted, err error) {
	key := keyPrefix + chat.Message{ID: id}.Key()
	for until := time.Now().Add(p.o.Settle); ; {
		err := p.with(ctx, p.o.Mailbox, func(m *mailbox) error {
			found, err := p.copyOf(m, key)
			if found != nil {
				posts = []chat.Posted{{ID: found.id, Ours: true, Message: id, Text: found.text, SentAt: found.at}}
			}
			return err
		})
		if err != nil || posts != nil || !p.o.BlindCopy || time.Now().After(until) {
			return posts, err
		}
		if !chat.Sleep(ctx, lookAgain) {
			return nil, notSent(ctx.Err())
		}
	}
}

// copyOf returns the copy of a mail that we sent; nil: there is none.
func (p *platform) copyOf(m *mailbox, key string) (*stored, error) {
	sent, err := p.sentIn(m)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{sent, p.o.Mailbox} {
		if err := p.selects(m, name); err != nil {
			return nil, err
		}
		uids, err := m.search(withID(key))
		if err != nil {
			return nil, err
		}
		all, err := m.fetchAll(uids, 5)
		if err != nil {
			return nil, err
		}
		for _, s := range all {
			if s.from == p.o.Address {
				return s, nil
			}
		}
	}
	return nil, nil
}

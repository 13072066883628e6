package discord

import (
	"context"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	historyPages = 10 // of a conversation
	searchPages  = 50 // in search of a message
)

// History implements [chat.History]: the oldest 1,000 messages, or 5,000 in search of one.
func (p *platform) History(ctx context.Context, at chat.Place, q chat.Query) ([]chat.Posted, error) {
	self, err := p.identify(ctx)
	if err != nil {
		return nil, err
	}
	after, pages := idAt(q.After), historyPages
	if q.ID != "" {
		pages = searchPages
		if answered, valid := parseID(at.ReplyTo); valid {
			after = max(after, answered) // a reply follows what it answers
		}
	}
	var posts []chat.Posted
	for range pages {
		page, full, err := p.page(ctx, targetOf(at), after)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			after = m.id
			if q.Before.IsZero() || m.id.time().Before(q.Before) {
				posts = append(posts, p.posted(m, self, q.ID))
			}
		}
		if !full || !q.Before.IsZero() && !after.time().Before(q.Before) {
			break
		}
	}
	return posts, nil
}

// posted returns a message for the core. The one with that outbox ID, and its draft, are
// recognized by their marks.
func (p *platform) posted(m *message, self identity, id string) chat.Posted {
	if m.Type == typeStarter && m.Referenced != nil { // the message from which the thread was opened
		m = m.Referenced
		m.id, _ = parseID(m.ID)
	}
	post := chat.Posted{
		ID: m.ID, Sender: m.Author.ID, Name: m.senderName(), Ours: m.Author.ID == self.id, Bot: m.isBot(),
		Text: p.text(m, self.id), SentAt: m.id.time(), Files: m.files(),
	}
	if mark := markAtEnd.FindString(m.Content); mark != "" && id != "" {
		switch mark {
		case markOf(chat.Message{ID: id}):
			post.Message = id
		case markOf(chat.Message{ID: id, Draft: true}):
			post.Message, post.Draft = id, true
		}
	}
	return post
}

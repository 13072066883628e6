package matrix

import (
	"context"
	"slices"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	historyPages = 10 // of a conversation
	searchPages  = 50 // in search of a message
	// skew is how much the clocks of homeservers may differ.
	skew = time.Hour
)

// History implements [chat.History]: the newest 1,000 events, or 5,000 in search of a message
// of ours. Homeservers count the time by clocks of their own, so that a search begins earlier.
func (p *platform) History(ctx context.Context, at chat.Place, q chat.Query) ([]chat.Posted, error) {
	self, err := p.whoAmI(ctx)
	if err != nil {
		return nil, err
	}
	pages, after := historyPages, q.After
	if q.ID != "" {
		pages, after = searchPages, q.After.Add(-skew)
	}
	var events []*event
	from := ""
	for range pages {
		page, next, err := p.page(ctx, at.Chat, from, "")
		if err != nil {
			return nil, lacking(err)
		}
		events, from = append(page, events...), next
		if from == "" || len(page) > 0 && !q.After.IsZero() && page[0].sentAt().Before(after) {
			break
		}
	}
	var posts []chat.Posted
	for _, e := range events {
		if of := e.Content.related(relReplace); of != "" && e.Content.New != nil {
			edit(posts, of, e)
			continue
		}
		post := p.posted(e, self)
		switch {
		case e.Type != typeMessage && e.Type != typeSticker, e.Content.Body == "": // removed
		case at.Thread != e.Content.related(relThread) && at.Thread != e.ID:
		case post.SentAt.Before(after), !post.Ours && !q.Before.IsZero() && !post.SentAt.Before(q.Before):
		default:
			posts = append(posts, post)
		}
	}
	return posts, nil
}

func (p *platform) posted(e *event, self account) chat.Posted {
	post := chat.Posted{
		ID: e.ID, Sender: e.Sender, Ours: e.Sender == self.ID, Bot: e.Content.MsgType == "m.notice", SentAt: e.sentAt(), Files: e.Content.files(e.ID),
	}
	fill(&post, &e.Content)
	return post
}

// edit applies an edit to the message that it is of.
func edit(posts []chat.Posted, of string, e *event) {
	i := slices.IndexFunc(posts, func(post chat.Posted) bool { return post.ID == of && post.Sender == e.Sender })
	if i >= 0 {
		fill(&posts[i], e.Content.New)
	}
}

// fill fills in what a version of a message says. Who else marks a message marks it in vain.
func fill(post *chat.Posted, c *content) {
	post.Text = c.text()
	if !post.Ours || c.Mark == nil {
		return
	}
	post.Text, post.Message, post.Draft = c.written(), c.Mark.ID, c.Mark.Draft
	post.Written = post.Draft && post.Text != ""
}

package mattermost

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	// sinceLimit is how many posts the server returns of those since a time. Which ones it
	// leaves out is not defined.
	sinceLimit = 1000
	pageSize   = 200 // posts in a call, the most that the server returns
	maxPages   = 100 // of a channel or a thread
)

// written returns what was written or changed in a channel since a time, in milliseconds,
// oldest first. Of more than 1,000 posts, it returns only those that still exist.
func (p *platform) written(ctx context.Context, channel string, since int64) ([]*post, error) {
	list, all, err := p.page(ctx, "/channels/"+channel+"/posts", url.Values{"since": {strconv.FormatInt(max(since, 1), 10)}})
	if err != nil || len(list.Order) < sinceLimit {
		return all, err
	}
	found := map[string]*post{}
	query := url.Values{"per_page": {strconv.Itoa(pageSize)}}
	for range maxPages {
		list, page, err := p.page(ctx, "/channels/"+channel+"/posts", query)
		if err != nil {
			return nil, err
		}
		for _, post := range page {
			found[post.ID] = post
		}
		if len(page) == 0 || len(list.Order) < pageSize || page[0].CreateAt <= since {
			return sorted(found), nil
		}
		query.Set("before", anchor(page))
	}
	p.o.Logger.Warn("too much was written in a channel, what is older is left out", "channel", channel, "posts", len(found))
	return sorted(found), nil
}

// anchor returns the ID of the oldest post of a page that is younger than its first: "before"
// leaves out what was written in the same millisecond.
func anchor(page []*post) string {
	for _, post := range page {
		if post.CreateAt > page[0].CreateAt {
			return post.ID
		}
	}
	return page[0].ID
}

// thread returns the posts of a thread after a time, and its first.
func (p *platform) thread(ctx context.Context, root string, after time.Time) ([]*post, error) {
	found := map[string]*post{}
	query := url.Values{"perPage": {strconv.Itoa(pageSize)}, "direction": {"down"}}
	if !after.IsZero() {
		query.Set("fromCreateAt", strconv.FormatInt(after.UnixMilli(), 10))
	}
	for range maxPages {
		list, page, err := p.page(ctx, "/posts/"+root+"/thread", query)
		if err != nil {
			return nil, err
		}
		for _, post := range page {
			found[post.ID] = post
		}
		if !list.HasNext || len(page) == 0 {
			break
		}
		last := page[len(page)-1]
		query.Set("fromCreateAt", strconv.FormatInt(last.CreateAt, 10))
		query.Set("fromPost", last.ID)
	}
	return sorted(found), nil
}

// page makes one call for posts and returns those in the list's order, oldest first.
func (p *platform) page(ctx context.Context, path string, query url.Values) (list postList, page []*post, err error) {
	if err := p.call(ctx, http.MethodGet, path+"?"+query.Encode(), nil, &list); err != nil {
		return list, nil, err
	}
	found := map[string]*post{}
	for _, id := range list.Order {
		post, err := readPost(list.Posts[id])
		if err != nil {
			p.o.Logger.Error("post not understood", "id", id, "err", err)
			continue
		}
		if post.OriginalID == "" {
			found[id] = post
		}
	}
	return list, sorted(found), nil
}

// sorted returns posts in the order in which they were written.
func sorted(posts map[string]*post) []*post {
	var all []*post
	for _, p := range posts {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *post) int { return cmp.Or(cmp.Compare(a.CreateAt, b.CreateAt), strings.Compare(a.ID, b.ID)) })
	return all
}

// The properties that our posts have: the outbox ID, and whether the post stands for that
// message, and shows some of it.
const (
	propID      = "holdfast_id"
	propDraft   = "holdfast_draft"
	propWritten = "holdfast_written"
)

// skew is how much the server's clock may differ from ours.
const skew = time.Hour

// History implements [chat.History]. A search for a message of ours begins earlier: posts have
// the time of the server's clock.
func (p *platform) History(ctx context.Context, at chat.Place, q chat.Query) ([]chat.Posted, error) {
	self, err := p.identify(ctx)
	if err != nil {
		return nil, err
	}
	after := q.After
	if q.ID != "" && !after.IsZero() {
		after = after.Add(-skew)
	}
	var posts []*post
	if at.Thread != "" {
		posts, err = p.thread(ctx, at.Thread, after)
	} else {
		posts, err = p.written(ctx, channelOf(at.Chat), after.UnixMilli())
	}
	if isMissing(err) {
		return nil, nil // where nothing can be read, nothing is found
	}
	if err != nil {
		return nil, err
	}
	if q.ID == "" {
		p.meet(ctx, posts)
	}
	var all []chat.Posted
	for _, post := range posts {
		sent := timeOf(post.CreateAt)
		if post.DeleteAt == 0 && slices.Contains(writtenTypes, post.Type) && (after.IsZero() || sent.After(after)) && (q.Before.IsZero() || sent.Before(q.Before)) {
			all = append(all, post.posted(self))
		}
	}
	return all, nil
}

// posted returns the post for the core.
func (p *post) posted(self user) chat.Posted {
	said, _ := p.said(self.Username)
	out := chat.Posted{
		ID: p.ID, Sender: p.UserID, Ours: p.UserID == self.ID, Bot: p.isBot(), Text: said, SentAt: timeOf(p.CreateAt), Files: p.files(),
	}
	if !out.Ours {
		return out
	}
	out.Message, _ = p.Props[propID].(string)
	out.Draft, out.Written = p.Props[propDraft] == true, p.Props[propWritten] == true
	out.Text, _, _ = strings.Cut(p.Message, noteMark)
	return out
}

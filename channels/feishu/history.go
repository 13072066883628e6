package feishu

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	pageSize = 50 // messages in a call, the platform's maximum
	maxPages = 20 // calls
)

// message is a message as the API returns it.
type message struct {
	ID      string `json:"message_id"`
	Chat    string `json:"chat_id"`
	Thread  string `json:"thread_id"`
	Type    string `json:"msg_type"`
	Created string `json:"create_time"`
	Deleted bool   `json:"deleted"`
	Sender  struct {
		ID   string `json:"id"` // open ID, or the ID of an app
		Type string `json:"sender_type"`
		Name string `json:"sender_name"`
	} `json:"sender"`
	Body struct {
		Content string `json:"content"`
	} `json:"body"`
	Mentions []mention `json:"mentions"`
}

type messages struct {
	Data struct {
		Items []message `json:"items"`
		More  bool      `json:"has_more"`
		Next  string    `json:"page_token"`
	} `json:"data"`
}

// History implements [chat.History]: the newest 1,000 messages. There are none of a direct
// chat whose ID was never learned.
func (p *platform) History(ctx context.Context, at chat.Place, q chat.Query) ([]chat.Posted, error) {
	query, err := p.container(ctx, at)
	if err != nil || query == nil {
		return nil, lacking(err)
	}
	if query.Get("container_id_type") == "chat" { // topics cannot be searched by time
		for name, at := range map[string]time.Time{"start_time": q.After, "end_time": q.Before} {
			if !at.IsZero() {
				query.Set(name, strconv.FormatInt(at.Unix(), 10))
			}
		}
	}
	var posts []chat.Posted
	for range maxPages {
		var answer messages
		if err := p.call(ctx, request{name: "list messages", path: "/open-apis/im/v1/messages", query: query}, &answer); err != nil {
			return nil, lacking(err)
		}
		over := !answer.Data.More || answer.Data.Next == ""
		for _, m := range answer.Data.Items {
			post := p.posted(m, q.ID)
			over = over || !q.After.IsZero() && post.SentAt.Before(q.After) || q.ID != "" && post.Message == q.ID && !post.Draft
			if !m.Deleted && post.SentAt.After(q.After) && (q.Before.IsZero() || post.SentAt.Before(q.Before)) {
				posts = append(posts, post)
			}
		}
		if over {
			break
		}
		query.Set("page_token", answer.Data.Next)
	}
	slices.Reverse(posts)
	return posts, nil
}

// container returns the query for the messages of a place; nil if it is unknown.
func (p *platform) container(ctx context.Context, at chat.Place) (url.Values, error) {
	kind, id, from := "chat", at.Chat, ""
	switch {
	case at.Thread != "":
		kind, id, from = "thread", p.topics.get(at.Thread), at.Thread
	case IsDirect(at.Chat):
		var err error
		if id, err = p.directChat(ctx, at.Chat); err != nil {
			return nil, fmt.Errorf("look up a direct chat: %w", err)
		}
		from = at.ReplyTo
	}
	if id == "" && isID("om_", from) {
		m, err := p.message(ctx, from)
		if err != nil {
			return nil, err
		}
		if id = m.Chat; kind == "thread" {
			id = m.Thread // empty until somebody answers in it
		} else {
			p.learnDirect(ctx, at.Chat, id)
		}
	}
	if id == "" {
		return nil, nil
	}
	return url.Values{
		"container_id_type": {kind}, "container_id": {id}, "sort_type": {"ByCreateTimeDesc"}, "page_size": {strconv.Itoa(pageSize)},
		"card_msg_content_type": {"user_card_content"}, "with_sender_name": {"true"},
	}, nil
}

// message looks a message up, for where it is.
func (p *platform) message(ctx context.Context, id string) (message, error) {
	var answer messages
	err := p.call(ctx, request{name: "get a message", path: "/open-apis/im/v1/messages/" + url.PathEscape(id)}, &answer)
	if undeletable[code(err)] || err == nil && len(answer.Data.Items) == 0 {
		return message{}, nil
	}
	if err != nil {
		return message{}, err
	}
	m := answer.Data.Items[0]
	p.topics.put(id, m.Thread)
	return m, nil
}

// posted returns a message for the core. One that is marked with the outbox ID is recognized.
func (p *platform) posted(m message, id string) chat.Posted {
	self, _ := p.known() // workers may not know it; then no mention is ours
	c := readContent(m.ID, m.Type, m.Body.Content, m.Mentions, self)
	post := chat.Posted{
		ID: m.ID, Sender: m.Sender.ID, Name: m.Sender.Name, Bot: m.Sender.Type == "app", Ours: m.Sender.Type == "app" && m.Sender.ID == p.appID,
		Text: c.text, SentAt: sentAt(m.Created), Files: c.files,
	}
	if id == "" || !post.Ours {
		return post
	}
	switch digits := idDigits(id); {
	case strings.Contains(m.Body.Content, markFinal+digits):
		post.Message = id
	case strings.Contains(m.Body.Content, markDraft+digits):
		post.Message, post.Draft = id, true
	}
	return post
}

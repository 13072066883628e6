package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

const (
	pageSize  = 200 // messages in a call, as Slack advises
	pageLimit = 5   // calls
)

// posted is a message as conversations.history and conversations.replies have it.
// The library's own does not know streaming_state.
type posted struct {
	post
	Streaming string `json:"streaming_state"` // in_progress or completed; empty: not streamed
	Profile   struct {
		Name string `json:"name"`
	} `json:"bot_profile"`
	Metadata struct {
		Type    string         `json:"event_type"`
		Payload map[string]any `json:"event_payload"`
	} `json:"metadata"`
}

// of reports whether we wrote the message.
func (p posted) of(self Identity) bool {
	return p.BotID != "" && p.BotID == self.BotID || p.User != "" && p.User == self.UserID
}

// History implements [chat.History]: the newest 1,000 messages.
func (p *platform) History(ctx context.Context, at chat.Place, q chat.Query) ([]chat.Posted, error) {
	self, err := p.self(ctx)
	if err != nil {
		return nil, err
	}
	messages, err := p.read(ctx, span{channel: channelOf(at.Chat), thread: at.Thread, oldest: tsAt(q.After), latest: tsAt(q.Before)})
	if code(err) == "thread_not_found" {
		return nil, nil
	}
	if why := lacking(err); why != err { //nolint:errorlint // it is the same error, not one that wraps it
		return nil, errors.Join(why, err)
	}
	if err != nil {
		return nil, err
	}
	var posts []chat.Posted
	for _, m := range messages {
		if postSubTypes[m.SubType] {
			posts = append(posts, m.asPosted(self, q.ID))
		}
	}
	return posts, nil
}

// asPosted returns the message for the core. A file that was sent as the message with
// that outbox ID is recognized.
func (p posted) asPosted(self Identity, id string) chat.Posted {
	post := chat.Posted{
		ID: p.TS, Sender: p.sender(), Name: cmp.Or(p.senderName(), p.Profile.Name), Ours: p.of(self),
		Text: p.text(self.UserID), SentAt: sentAt(p.TS), Files: p.files(),
		Streaming: p.Streaming == "in_progress", Empty: p.isBlank(),
	}
	if p.isBot() && post.Name != "" {
		post.Sender = p.BotID // the name in the message goes before that of the bot's user
	}
	if p.Metadata.Type == replyEvent {
		post.Message, _ = p.Metadata.Payload["id"].(string)
		post.Draft = p.Metadata.Payload["draft"] == true
	}
	for _, f := range p.Files {
		if isTitleOf(f.Title, id) {
			post.ID, post.Message, post.Draft = f.ID, id, false
		}
	}
	return post
}

// isBlank reports whether there is nothing in the message: so a stream begins, and
// so it is left if whoever began it died.
func (p posted) isBlank() bool {
	return strings.TrimSpace(p.Text) == "" && p.Metadata.Type == "" && len(p.Files) == 0 && len(p.Attachments) == 0
}

// tsAt is a time as a ts of Slack; empty for the zero time.
func tsAt(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/int(time.Microsecond))
}

// span is a part of a conversation: of a thread, or of the channel if that is
// empty. Its ends are the ts of messages that do not belong to it; empty: open.
type span struct {
	channel, thread string
	oldest, latest  string
}

// read returns the messages of a span, oldest first: 1,000 at most, of a channel the
// newest, of a thread the oldest. A thread's first message belongs to each of its
// spans.
func (p *platform) read(ctx context.Context, s span) ([]posted, error) {
	method := "conversations.history"
	arguments := url.Values{"channel": {s.channel}, "limit": {strconv.Itoa(pageSize)}, "include_all_metadata": {"true"}}
	if s.thread != "" {
		method = "conversations.replies"
		arguments.Set("ts", s.thread)
	}
	if s.oldest != "" {
		arguments.Set("oldest", s.oldest)
	}
	if s.latest != "" {
		arguments.Set("latest", s.latest)
	}
	var found []posted
	for range pageLimit {
		page, next, err := p.page(ctx, method, s.channel, arguments)
		if err != nil {
			return nil, err
		}
		found = append(found, page...)
		if next == "" {
			break
		}
		arguments.Set("cursor", next)
	}
	slices.SortFunc(found, func(a, b posted) int { return strings.Compare(a.TS, b.TS) })
	return found, nil
}

// page makes one call and returns the messages and the cursor of the next.
func (p *platform) page(ctx context.Context, method, channel string, arguments url.Values) ([]posted, string, error) {
	var answer struct {
		slack.SlackResponse
		Messages []posted `json:"messages"`
	}
	err := p.call(ctx, method, channel, func(ctx context.Context) error {
		if err := p.form(ctx, method, arguments, &answer); err != nil {
			return err
		}
		return answer.Err()
	})
	return answer.Messages, answer.ResponseMetadata.Cursor, err
}

package slack

import (
	"cmp"
	"context"
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

// posted is a message as conversations.history and conversations.replies return it. The
// library's type lacks streaming_state.
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
	messages, err := p.read(ctx, channelOf(at.Chat), at.Thread, q)
	switch {
	case code(err) == "thread_not_found":
		return nil, nil
	case err != nil:
		return nil, lacking(err)
	}
	var posts []chat.Posted
	for _, m := range messages {
		if postSubTypes[m.SubType] {
			posts = append(posts, m.asPosted(self))
		}
	}
	return posts, nil
}

// asPosted returns the message for the core.
func (p posted) asPosted(self Identity) chat.Posted {
	post := chat.Posted{
		ID: p.TS, Sender: p.sender(), Name: cmp.Or(p.senderName(), p.Profile.Name), Ours: p.of(self), Bot: p.isBot(),
		Text: p.text(self.UserID), SentAt: sentAt(p.TS), Files: p.files(),
		Streaming: p.Streaming == "in_progress", Empty: p.isBlank(),
	}
	if p.isBot() && post.Name != "" {
		post.Sender = p.BotID // the name in the message goes before that of the bot's user
	}
	if p.Metadata.Type == replyEvent {
		post.Message, _ = p.Metadata.Payload["id"].(string)
		post.Draft = p.Metadata.Payload["draft"] == true
		post.Written = p.Metadata.Payload["written"] == true
	}
	return post
}

// isBlank reports whether the message is empty, as streams are at first.
func (p posted) isBlank() bool {
	return strings.TrimSpace(p.Text) == "" && p.Metadata.Type == "" && len(p.Files) == 0 && len(p.Attachments) == 0
}

// tsAt returns a time as a ts; empty for the zero time.
func tsAt(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/int(time.Microsecond))
}

// read returns messages of a thread, or of the channel if that is empty, oldest first: at
// most 1,000, of a channel the newest, of a thread the oldest and always its first.
func (p *platform) read(ctx context.Context, channel, thread string, q chat.Query) ([]posted, error) {
	method := "conversations.history"
	arguments := url.Values{"channel": {channel}, "limit": {strconv.Itoa(pageSize)}, "include_all_metadata": {"true"}}
	if thread != "" {
		method = "conversations.replies"
	}
	for name, value := range map[string]string{"ts": thread, "oldest": tsAt(q.After), "latest": tsAt(q.Before)} {
		if value != "" {
			arguments.Set(name, value)
		}
	}
	var found []posted
	for range pageLimit {
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
		if err != nil {
			return nil, err
		}
		found = append(found, answer.Messages...)
		if answer.ResponseMetadata.Cursor == "" {
			break
		}
		arguments.Set("cursor", answer.ResponseMetadata.Cursor)
	}
	slices.SortFunc(found, func(a, b posted) int { return strings.Compare(a.TS, b.TS) })
	return found, nil
}

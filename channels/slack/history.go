package slack

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slack-go/slack"
)

const (
	pageSize  = 200 // messages in a call, as Slack advises
	pageLimit = 5   // calls
)

// posted is a message as conversations.history and conversations.replies have it.
// The library's own does not know streaming_state.
type posted struct {
	post
	Blocks    []postedBlock `json:"blocks"`
	Streaming string        `json:"streaming_state"` // in_progress or completed; empty: not streamed
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

// span is a part of a conversation: of a thread, or of the channel if that is
// empty. Its ends are the ts of messages that do not belong to it; empty: open.
type span struct {
	channel, thread string
	oldest, latest  string
}

// read returns the messages of a span, oldest first: 1,000 at most, of a channel the
// newest, of a thread the oldest. A thread's first message belongs to each of its
// spans.
func (c *Channel) read(ctx context.Context, s span) ([]posted, error) {
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
		page, next, err := c.page(ctx, method, s.channel, arguments)
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
func (c *Channel) page(ctx context.Context, method, channel string, arguments url.Values) ([]posted, string, error) {
	var answer struct {
		slack.SlackResponse
		Messages []posted `json:"messages"`
	}
	err := c.call(ctx, method, channel, func(ctx context.Context) error {
		if err := c.form(ctx, method, arguments, &answer); err != nil {
			return err
		}
		return answer.Err()
	})
	return answer.Messages, answer.ResponseMetadata.Cursor, err
}

package slack

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// draftMetadata is the metadata of the draft of a reply.
func draftMetadata(reply string) slack.SlackMetadata {
	return slack.SlackMetadata{EventType: replyEvent, EventPayload: map[string]any{"id": reply, "draft": true}}
}

// isDraft reports whether the message is a draft.
func (p posted) isDraft() bool {
	return p.Metadata.Type == replyEvent && p.Metadata.Payload["draft"] == true
}

// isBlank reports whether there is nothing in the message: so a stream begins, and
// so it is left if whoever began it died.
func (p posted) isBlank() bool {
	return strings.TrimSpace(p.Text) == "" && p.Metadata.Type == "" && len(p.Files) == 0 && len(p.Attachments) == 0
}

// findDraft looks for the draft of a reply in a conversation and returns its ts;
// empty if it is not there. If it may be a stream, that is a message with nothing in
// it which is no other draft that we know of.
func (c *Channel) findDraft(ctx context.Context, in span, reply string, stream bool) (string, error) {
	self, err := c.Identify(ctx)
	if err != nil {
		return "", err
	}
	messages, err := c.read(ctx, in)
	if err != nil {
		return "", fmt.Errorf("look for a draft: %w", err)
	}
	for _, m := range messages {
		itself := m.isDraft() && m.Metadata.Payload["id"] == reply
		if m.of(self) && (itself || stream && m.isBlank() && !c.drafts.isOpen(platformID(in.channel, m.TS))) {
			return m.TS, nil
		}
	}
	return "", nil
}

// showsDraft reports whether a message is a draft, still or again.
func (c *Channel) showsDraft(ctx context.Context, channel, thread, ts string) (bool, error) {
	at := sentAt(ts)
	messages, err := c.read(ctx, span{channel: channel, thread: thread, oldest: tsAt(at.Add(-time.Microsecond)), latest: tsAt(at.Add(time.Microsecond))})
	if err != nil {
		return false, fmt.Errorf("look at a reply: %w", err)
	}
	for _, m := range messages {
		if m.TS == ts {
			return m.isDraft(), nil
		}
	}
	return false, nil
}

// tsAt is a time as a ts of Slack.
func tsAt(t time.Time) string {
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/int(time.Microsecond))
}

package slack

import (
	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// replyEvent is the type of our messages' metadata. They say which message in the
// outbox it is (id), whether it only stands for that one yet (draft) and shows some of it
// (written), and which question it asks (approval).
const replyEvent = "holdfast_reply"

// metadataOf returns the metadata of a message.
func metadataOf(msg chat.Message) slack.SlackMetadata {
	payload := map[string]any{"id": msg.ID}
	if msg.Draft {
		payload["draft"] = true
		if msg.Text != "" {
			payload["written"] = true
		}
	}
	if msg.Approval != "" {
		payload["approval"] = msg.Approval
	}
	return slack.SlackMetadata{EventType: replyEvent, EventPayload: payload}
}

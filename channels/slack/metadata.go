package slack

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// replyEvent is the type of our messages' metadata. They say which message in the
// outbox it is (id), whether it only stands for that one yet (draft), and which
// question it asks (approval).
const replyEvent = "holdfast_reply"

// metadataOf returns the metadata of a message.
func metadataOf(msg chat.Message) slack.SlackMetadata {
	payload := map[string]any{"id": msg.ID}
	if msg.Draft {
		payload["draft"] = true
	}
	if msg.Approval != "" {
		payload["approval"] = msg.Approval
	}
	return slack.SlackMetadata{EventType: replyEvent, EventPayload: payload}
}

// titleOf is the title of a file. Slack keeps no metadata of files, so the title
// tells which message in the outbox it is.
func titleOf(name, id string) string { return name + titleMark(id) }

// isTitleOf reports whether a file with this title is the message with this ID.
func isTitleOf(title, id string) bool { return strings.HasSuffix(title, titleMark(id)) }

func titleMark(id string) string {
	sum := sha256.Sum256([]byte(id))
	return " · " + hex.EncodeToString(sum[:4])
}

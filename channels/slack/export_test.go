package slack

import (
	"context"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// What the tests look at from outside the package.
var (
	Readable  = readable
	Mrkdwn    = mrkdwn
	BlockText = blockText
	Failure   = failure
	SentAt    = sentAt
	Thumbs    = thumbs
)

// PostDraft posts what stands for a reply, as a turn that is at work does.
func PostDraft(ctx context.Context, c *Channel, channel, thread, reply string) (string, error) {
	_, ts, err := c.api.PostMessageContext(ctx, channel,
		slack.MsgOptionTS(thread), slack.MsgOptionText("…", false), slack.MsgOptionMetadata(metadataOf(chat.Message{ID: reply, Draft: true})))
	return ts, err
}

// StartStream begins a stream that stands for a reply.
func StartStream(ctx context.Context, c *Channel, channel, thread, user, team string) (string, error) {
	_, ts, err := c.api.StartStreamContext(ctx, channel, slack.MsgOptionTS(thread),
		slack.MsgOptionRecipientUserID(user), slack.MsgOptionRecipientTeamID(team))
	return ts, err
}

// OpenConnection asks for the address of a Socket Mode connection.
func OpenConnection(ctx context.Context, c *Channel) error {
	_, _, err := c.api.StartSocketModeContext(ctx)
	return err
}

// Call makes a call as the channel does.
func Call(c *Channel, ctx context.Context, method, chat string, f func(context.Context) error) error { //nolint:revive // as the method has it
	return c.call(ctx, method, chat, f)
}

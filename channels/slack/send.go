package slack

import (
	"context"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels"
)

// replyEvent is the type of our messages' metadata. They say which message in the
// outbox it is (id), whether it only stands for that one yet (draft), and which
// question it asks (approval).
const replyEvent = "holdfast_reply"

// Send implements [channels.Sender]. A draft becomes the message if it is still
// there, so that a lost response does no harm; but not if a person was asked
// something below it, as the message belongs below that.
func (c *Channel) Send(ctx context.Context, msg channels.OutboundMessage) (channels.Sent, error) {
	channel, draft := message(msg.Draft)
	if draft == "" {
		return c.sendNew(ctx, msg)
	}
	c.drafts.take(ctx, msg.Draft)
	if below := lane(msg.Chat, msg.Thread); msg.File != nil || c.asked.had(below) {
		if err := c.remove(ctx, channel, draft); err != nil {
			return channels.Sent{}, err
		}
		sent, err := c.sendNew(ctx, msg)
		if err == nil {
			c.asked.undo(below)
		}
		return sent, err
	}
	sent, err := c.replace(ctx, msg, channel, draft)
	switch code(err) {
	case "message_not_found", "cant_update_message", "edit_window_closed":
		return c.sendNew(ctx, msg)
	}
	return sent, err
}

func (c *Channel) sendNew(ctx context.Context, msg channels.OutboundMessage) (channels.Sent, error) {
	if msg.File != nil {
		return c.upload(ctx, msg)
	}
	return c.post(ctx, msg)
}

// post posts a message.
func (c *Channel) post(ctx context.Context, msg channels.OutboundMessage) (channels.Sent, error) {
	channel := channelOf(msg.Chat)
	var ts string
	err := c.say(msg, func(content ...slack.MsgOption) error {
		return c.call(ctx, "chat.postMessage", channel, func(ctx context.Context) error {
			options := append(content, slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl())
			if msg.Thread != "" {
				options = append(options, slack.MsgOptionTS(msg.Thread))
			}
			var err error
			_, ts, err = c.api.PostMessageContext(ctx, channel, options...)
			return err
		})
	})
	if err != nil {
		return channels.Sent{}, err
	}
	if msg.Approval != "" {
		c.asked.first(lane(msg.Chat, msg.Thread), lookBack)
	}
	return channels.Sent{PlatformID: platformID(channel, ts)}, nil
}

// replace makes a message of its draft. One that is streamed has to be stopped
// first; Slack refuses to change it until then.
func (c *Channel) replace(ctx context.Context, msg channels.OutboundMessage, channel, draft string) (channels.Sent, error) {
	update := func(content ...slack.MsgOption) error {
		return c.call(ctx, "chat.update", channel, func(ctx context.Context) error {
			_, _, _, err := c.api.UpdateMessageContext(ctx, channel, draft, content...)
			return err
		})
	}
	err := c.say(msg, update)
	if code(err) == "streaming_state_conflict" {
		if err := c.stopStream(ctx, channel, draft); err != nil {
			return channels.Sent{}, err
		}
		err = c.say(msg, update)
	}
	if err != nil {
		return channels.Sent{}, err
	}
	return channels.Sent{PlatformID: platformID(channel, draft)}, nil
}

// say has a message's content sent: as blocks or, if Slack does not take them,
// without.
func (c *Channel) say(msg channels.OutboundMessage, send func(content ...slack.MsgOption) error) error {
	markdown := c.withMentions(msg.Text)
	payload := map[string]any{"id": msg.ID}
	var buttons []slack.Block
	instead := "" // of the buttons
	if msg.Approval != "" {
		markdown = withApprovers(markdown)
		payload["approval"] = msg.Approval
		buttons, instead = append(buttons, answerButtons(msg.Approval)), "\n\n"+howToAnswer(msg.Approval)
	}
	metadata := slack.MsgOptionMetadata(slack.SlackMetadata{EventType: replyEvent, EventPayload: payload})
	err := send(metadata, slack.MsgOptionText(mrkdwn(markdown), false), slack.MsgOptionBlocks(append(blocks(markdown), buttons...)...))
	switch code(err) {
	case "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long":
		return send(metadata, slack.MsgOptionText(mrkdwn(markdown+instead), false), slack.MsgOptionBlocks())
	}
	return err
}

// stopStream ends the streaming of a message. One that has ended is fine.
func (c *Channel) stopStream(ctx context.Context, channel, ts string) error {
	err := c.call(ctx, "chat.stopStream", channel, func(ctx context.Context) error {
		_, _, err := c.api.StopStreamContext(ctx, channel, ts)
		return err
	})
	switch code(err) {
	case "message_not_in_streaming_state", "stopped_by_user", "message_not_found":
		return nil
	}
	return err
}

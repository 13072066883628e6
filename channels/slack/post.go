package slack

import (
	"context"
	"fmt"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackutilsx"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Post implements [chat.Platform].
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (id string, err error) {
	if msg.File != "" {
		return p.upload(ctx, at, msg)
	}
	channel := channelOf(at.Chat)
	err = p.send(msg, func(content ...slack.MsgOption) error {
		return p.call(ctx, "chat.postMessage", channel, func(ctx context.Context) (err error) {
			options := append(content, slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl())
			if at.Thread != "" {
				options = append(options, slack.MsgOptionTS(at.Thread))
			}
			_, id, err = p.api.PostMessageContext(ctx, channel, options...)
			return err
		})
	})
	return id, err
}

// Busy implements [chat.Throttled].
func (p *platform) Busy(at chat.Place) bool {
	return p.limits.Busy("chat.postMessage", channelOf(at.Chat))
}

// Edit implements [chat.Editor]. A message that is streamed is stopped first: Slack
// refuses to change it until then.
func (p *platform) Edit(ctx context.Context, at chat.Place, ts string, msg chat.Message) error {
	channel := channelOf(at.Chat)
	update := func(content ...slack.MsgOption) error {
		return p.call(ctx, "chat.update", channel, func(ctx context.Context) error {
			_, _, _, err := p.api.UpdateMessageContext(ctx, channel, ts, content...)
			return err
		})
	}
	err := p.send(msg, update)
	if code(err) == "streaming_state_conflict" {
		if err := p.endStream(ctx, channel, ts); err != nil {
			return err
		}
		err = p.send(msg, update)
	}
	switch code(err) {
	case "message_not_found", "cant_update_message", "edit_window_closed":
		return fmt.Errorf("%w: %w", chat.ErrNoMessage, err)
	}
	return err
}

// Delete implements [chat.Editor]. Slack does not delete streams that were not stopped.
func (p *platform) Delete(ctx context.Context, at chat.Place, ts string) error {
	channel := channelOf(at.Chat)
	remove := func(ctx context.Context) error {
		_, _, err := p.api.DeleteMessageContext(ctx, channel, ts)
		return err
	}
	err := p.call(ctx, "chat.delete", channel, remove)
	if code(err) == "cant_delete_message" {
		if err := p.endStream(ctx, channel, ts); err != nil {
			return err
		}
		err = p.call(ctx, "chat.delete", channel, remove)
	}
	if undeletable[code(err)] {
		return nil
	}
	return err
}

// undeletable are Slack's errors for messages that are gone or can never be deleted.
var undeletable = map[string]bool{
	"message_not_found": true, "channel_not_found": true, "thread_not_found": true, "is_archived": true, "cant_delete_message": true,
	"not_in_channel": true, "compliance_exports_prevent_deletion": true, "is_inactive": true,
}

// send sends the content of a message: as blocks or, if Slack refuses those, as text alone.
func (p *platform) send(msg chat.Message, send func(content ...slack.MsgOption) error) error {
	markdown := msg.Text
	if !msg.Draft {
		markdown = p.withMentions(markdown)
	}
	if msg.Approval != "" {
		markdown = withApprovers(markdown)
	}
	metadata := slack.MsgOptionMetadata(metadataOf(msg))
	err := send(metadata, slack.MsgOptionText(textOf(msg, markdown), false), slack.MsgOptionBlocks(blocksOf(msg, markdown)...))
	switch code(err) {
	case "invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long":
		if len(msg.Buttons) > 0 && msg.Approval != "" {
			markdown += "\n\n" + howToAnswer(msg.Approval)
		}
		return send(metadata, slack.MsgOptionText(textOf(msg, markdown), false), slack.MsgOptionBlocks())
	}
	return err
}

// textOf returns the text for notifications and for clients without blocks.
func textOf(msg chat.Message, markdown string) string {
	text, note := mrkdwn(markdown), noteOf(msg)
	switch {
	case text == "":
		return note
	case msg.Draft || note == "":
		return text
	}
	return cutMarkup(text, textLimit-len(note)-2) + "\n\n" + note
}

func noteOf(msg chat.Message) string {
	return approver.ReplaceAllString(slackutilsx.EscapeMessage(msg.Note), "<@$1>")
}

func blocksOf(msg chat.Message, markdown string) []slack.Block {
	var parts []slack.Block
	if markdown != "" {
		parts = blocks(markdown)
	}
	if msg.Note != "" {
		note := slack.NewTextBlockObject(slack.MarkdownType, noteOf(msg), false, false)
		if msg.Draft { // a tool's arguments are not markup
			note = slack.NewTextBlockObject(slack.PlainTextType, msg.Note, false, false)
		}
		parts = append(parts, slack.NewContextBlock("", note))
	}
	if len(msg.Buttons) > 0 {
		var buttons []slack.BlockElement
		for _, b := range msg.Buttons {
			label := slack.NewTextBlockObject(slack.PlainTextType, b.Label, false, false)
			buttons = append(buttons, slack.NewButtonBlockElement(actionID(b.Action), b.Value, label).WithStyle(styles[b.Action]))
		}
		parts = append(parts, slack.NewActionBlock("", buttons...))
	}
	return parts
}

var styles = map[chat.Action]slack.Style{chat.ActionApprove: slack.StylePrimary, chat.ActionDeny: slack.StyleDanger}

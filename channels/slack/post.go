package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

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
	err = p.send(msg, postTextLimit, func(content ...slack.MsgOption) error {
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
// refuses to change it until then. One that an edit cannot hold is deleted, to be posted.
func (p *platform) Edit(ctx context.Context, at chat.Place, ts string, msg chat.Message) error {
	channel := channelOf(at.Chat)
	update := func(content ...slack.MsgOption) error {
		return p.call(ctx, "chat.update", channel, func(ctx context.Context) error {
			_, _, _, err := p.api.UpdateMessageContext(ctx, channel, ts, content...)
			return err
		})
	}
	if p.streams.has(channel, ts) {
		if err := p.endStream(ctx, channel, ts); err != nil {
			return err
		}
	}
	err := p.send(msg, textLimit, update)
	if code(err) == "streaming_state_conflict" {
		if err := p.endStream(ctx, channel, ts); err != nil {
			return err
		}
		err = p.send(msg, textLimit, update)
	}
	if errors.Is(err, errTooLong) {
		return errors.Join(fmt.Errorf("%w: %w", chat.ErrNoMessage, err), p.Delete(ctx, at, ts))
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
	if p.streams.has(channel, ts) {
		if err := p.endStream(ctx, channel, ts); err != nil {
			return err
		}
	}
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

// errTooLong is the error of a text without blocks that a call does not take.
var errTooLong = errors.New("too long without blocks")

// send sends the content of a message: as blocks or, if Slack refuses those, as text alone.
// The call takes limit characters of text.
func (p *platform) send(msg chat.Message, limit int, send func(content ...slack.MsgOption) error) error {
	markdown := msg.Text
	if !msg.Draft {
		markdown = p.withMentions(markdown)
	}
	if msg.Approval != "" {
		markdown = withApprovers(markdown)
	}
	if !p.o.Feedback {
		msg.Rate = ""
	}
	metadata := slack.MsgOptionMetadata(metadataOf(msg))
	bodies := [][]slack.Block{blocks(markdown)}
	if table := withTable(markdown); table != nil && !msg.Draft {
		bodies = slices.Insert(bodies, 0, table)
	}
	var err error
	for _, body := range bodies {
		err = send(metadata, slack.MsgOptionText(textOf(msg, markdown, limit), false), slack.MsgOptionBlocks(blocksOf(msg, body)...))
		if !refusedBlocks[code(err)] {
			return err
		}
	}
	if msg.Rate != "" { // a Slack without thumbs
		msg.Rate = ""
		return p.send(msg, limit, send)
	}
	if len(msg.Buttons) > 0 && msg.Approval != "" {
		markdown += "\n\n" + howToAnswer(msg.Approval)
	}
	text := joined("\n\n", render(markdown), noteOf(msg))
	if utf8.RuneCountInString(text) > limit && limit < postTextLimit {
		return fmt.Errorf("%w: %w", errTooLong, err)
	}
	return send(metadata, slack.MsgOptionText(cutMarkup(text, limit), false), slack.MsgOptionBlocks())
}

// refusedBlocks are Slack's errors for blocks that it does not take.
var refusedBlocks = map[string]bool{
	"invalid_blocks": true, "invalid_blocks_format": true, "msg_blocks_too_long": true, "invalid_attachments": true,
}

// textOf returns the text for notifications and for clients without blocks, of which the call
// takes limit characters.
func textOf(msg chat.Message, markdown string, limit int) string {
	text, note := cutMarkup(render(markdown), limit), noteOf(msg)
	switch {
	case text == "":
		return note
	case msg.Draft || note == "":
		return text
	}
	return cutMarkup(text, limit-len(note)-2) + "\n\n" + note
}

func noteOf(msg chat.Message) string {
	return approver.ReplaceAllString(slackutilsx.EscapeMessage(msg.Note), "<@$1>")
}

// blocksOf returns the blocks of a message whose text is in body.
func blocksOf(msg chat.Message, body []slack.Block) []slack.Block {
	var parts []slack.Block
	if msg.Text != "" {
		parts = body
	}
	if msg.Note != "" {
		note := slack.NewTextBlockObject(slack.MarkdownType, noteOf(msg), false, false)
		if msg.Draft { // a tool's arguments are not markup
			note = slack.NewTextBlockObject(slack.PlainTextType, msg.Note, false, false)
		}
		parts = append(parts, slack.NewContextBlock("", note))
	}
	if len(msg.Buttons) > 0 {
		parts = append(parts, buttonsBlock(msg.Buttons))
	}
	if msg.Rate != "" {
		parts = append(parts, thumbs(msg.Rate))
	}
	return parts
}

func buttonsBlock(buttons []chat.Button) slack.Block {
	var elements []slack.BlockElement
	for _, b := range buttons {
		label := slack.NewTextBlockObject(slack.PlainTextType, b.Label, false, false)
		elements = append(elements, slack.NewButtonBlockElement(actionID(b.Action), b.Value, label).WithStyle(styles[b.Action]))
	}
	return slack.NewActionBlock("", elements...)
}

var styles = map[chat.Action]slack.Style{chat.ActionApprove: slack.StylePrimary, chat.ActionDeny: slack.StyleDanger}

package slack

import (
	"context"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackutilsx"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Whisper implements [chat.Whisperer].
func (p *platform) Whisper(ctx context.Context, at chat.Place, person, text string) error {
	channel := channelOf(at.Chat)
	options := []slack.MsgOption{slack.MsgOptionText(mrkdwn(withApprovers(text)), false), slack.MsgOptionDisableLinkUnfurl()}
	if at.Thread != "" {
		options = append(options, slack.MsgOptionTS(at.Thread))
	}
	if isDirect(channel) {
		return p.call(ctx, "chat.postMessage", channel, func(ctx context.Context) error {
			_, _, err := p.api.PostMessageContext(ctx, channel, options...)
			return err
		})
	}
	return p.call(ctx, "chat.postEphemeral", channel, func(ctx context.Context) error {
		_, err := p.api.PostEphemeralContext(ctx, channel, person, options...)
		return err
	})
}

// Mention implements [chat.Markup].
func (*platform) Mention(person string) string { return "<@" + person + ">" }

// Escape implements [chat.Markup].
func (*platform) Escape(text string) string { return slackutilsx.EscapeMessage(text) }

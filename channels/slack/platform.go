package slack

import (
	"context"
	"fmt"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackutilsx"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// platform is the channel as a [chat.Platform].
type platform struct{ *Channel }

// Name implements [chat.Platform].
func (platform) Name() string { return Name }

// Limits implements [chat.Platform].
func (p platform) Limits() chat.Limits { return chat.Limits{Draft: 3500, Buttons: true, Pace: p.pace} }

// Identify implements [chat.Platform].
func (p platform) Identify(ctx context.Context) (chat.Self, error) {
	self, err := p.Channel.Identify(ctx)
	if failed := remote.As(err); failed != nil && (failed.Permanent() || misconfigured[code(err)] != "") {
		err = fmt.Errorf("%w; check channels.slack.bot_token", err)
	}
	return chat.Self{Scope: self.TeamID, ID: self.UserID, Name: self.Name}, err
}

// Whisper implements [chat.Whisperer].
func (p platform) Whisper(ctx context.Context, at chat.Place, person, text string) error {
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
func (platform) Mention(person string) string { return "<@" + person + ">" }

// Escape implements [chat.Markup].
func (platform) Escape(text string) string { return slackutilsx.EscapeMessage(text) }

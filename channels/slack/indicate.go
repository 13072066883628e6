package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// The reactions that a message gets: seen, answered, failed.
const (
	seenEmoji     = "eyes"
	answeredEmoji = "white_check_mark"
	failedEmoji   = "x"
)

// statusLapse is how often a status is set again: Slack removes it after two minutes.
const statusLapse = 90 * time.Second

// Indicates implements [chat.Indicator]: a thread has a status, other messages get a
// reaction if the app may add one.
func (p *platform) Indicates(ctx context.Context, at chat.Place) (chat.Indicates, error) {
	if at.Thread != "" && !p.noStatus.Load() {
		return chat.Indicates{Text: true, Lapse: cmp.Or(p.statusLapse, statusLapse)}, nil
	}
	self, err := p.self(ctx)
	if err != nil {
		return chat.Indicates{}, err
	}
	return chat.Indicates{State: len(self.Scopes) == 0 || slices.Contains(self.Scopes, "reactions:write")}, nil
}

// Indicate implements [chat.Indicator].
func (p *platform) Indicate(ctx context.Context, at chat.Place, what chat.Indication) error {
	switch {
	case at.Thread != "" && !p.noStatus.Load():
		return p.setStatus(ctx, at, what.Text)
	case !timestamp.MatchString(at.ReplyTo): // a command, which is no message
		return nil
	case what.State == chat.StateAnswered:
		return p.closeReactions(ctx, at, answeredEmoji)
	case what.State == chat.StateFailed:
		return p.closeReactions(ctx, at, failedEmoji)
	}
	return p.react(ctx, at, seenEmoji)
}

func (p *platform) setStatus(ctx context.Context, at chat.Place, status string) error {
	channel := channelOf(at.Chat)
	err := p.call(ctx, "assistant.threads.setStatus", channel, func(ctx context.Context) error {
		return p.api.SetAssistantThreadsStatusContext(ctx, slack.AssistantThreadsSetStatusParameters{
			ChannelID: channel, ThreadTS: at.Thread, Status: status,
		})
	})
	if unsupported[code(err)] {
		p.noStatus.Store(true)
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}

func (p *platform) react(ctx context.Context, at chat.Place, emoji string) error {
	channel := channelOf(at.Chat)
	err := p.call(ctx, "reactions.add", channel, func(ctx context.Context) error {
		return p.api.AddReactionContext(ctx, emoji, slack.NewRefToMessage(channel, at.ReplyTo))
	})
	if code(err) == "already_reacted" {
		return nil
	}
	return err
}

// closeReactions replaces the "seen" reaction by another.
func (p *platform) closeReactions(ctx context.Context, at chat.Place, emoji string) error {
	channel := channelOf(at.Chat)
	return errors.Join(p.react(ctx, at, emoji), p.call(ctx, "reactions.remove", channel, func(ctx context.Context) error {
		return p.api.RemoveReactionContext(ctx, seenEmoji, slack.NewRefToMessage(channel, at.ReplyTo))
	}))
}

// Package slack is the Slack channel: it receives messages over Socket Mode or the Events
// API, and sends replies into the thread they belong to.
//
// A conversation is a thread in a channel, a direct message, or a thread in one.
// Accepting a message calls nothing at Slack, so it can be acknowledged within Slack's
// three seconds, except to look up once whom "*" or a user group means; workers add names, files and what was said before ([chat.Enricher]).
package slack

import (
	"context"
	"errors"
	"log/slog"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Channel is a connection to one Slack workspace: a [channels.Receiver],
// [channels.Sender], [channels.Finder], [channels.Splitter], [channels.RecipientResolver],
// [channels.Locator] and [channels.Enricher]. Safe for concurrent use; only Run is for one
// caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It does not call Slack yet.
func New(o Options) (*Channel, error) {
	if o.BotToken == "" {
		return nil, errors.New("channels.slack.bot_token is not set; it begins with xoxb-")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := newPlatform(o)
	p.people = chat.NewPeople(p.look)
	p.accounts = chat.NewCache(accountLasts, p.account)
	p.groups = chat.NewCache(groupLasts, p.groupMembers)
	p.webhook = newWebhook(p)
	return &Channel{platform: p, Channel: chat.New(p, chat.Options{
		ReceiverOptions: receiverOptions(o), FileLimit: o.FileLimit, Drafts: o.Stream,
	})}, nil
}

func receiverOptions(o Options) chat.ReceiverOptions {
	return chat.ReceiverOptions{
		Access:  chat.Access{Users: o.AllowUsers, Chats: o.AllowChannels, Bots: o.AllowBots},
		Respond: o.Respond, RespondIn: o.RespondIn, CommandPrefix: "/holdfast ", Logger: o.Logger,
	}
}

// Identify returns who the bot token belongs to.
func (c *Channel) Identify(ctx context.Context) (Identity, error) { return c.self(ctx) }

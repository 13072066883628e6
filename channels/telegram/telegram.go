// Package telegram is the Telegram channel: a client of the Bot API that receives by long
// polling or a webhook.
//
// A conversation is a private chat, a group, or a topic of a group. Telegram neither shows
// what a bot sent nor recognizes a message that is sent again. So each reply is the edit of
// a recorded placeholder ([channels.Placeholders]): of an answer that is lost, at most a "…"
// is left.
package telegram

import (
	"errors"
	"log/slog"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Channel is a Telegram bot: a [channels.Receiver], [channels.Enricher],
// [channels.RecipientResolver], [channels.Locator] and everything that [chat.Outbound] is.
// Safe for concurrent use; only Run is for one caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It does not call Telegram yet.
func New(o Options) (*Channel, error) {
	if o.Token == "" {
		return nil, errors.New("channels.telegram.token is not set; @BotFather in Telegram has it")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	p := newPlatform(o)
	if o.CommandPrefix = "/"; o.Respond == RespondThread {
		o.Respond = chat.RespondMention // a reply counts as a mention
	}
	return &Channel{platform: p, Channel: chat.New(p, o.Options)}, nil
}

// Package discord is the Discord channel: it receives messages over the gateway, and what it
// missed from each channel's history.
//
// A conversation is a channel of a server, a thread in one, or a direct message. Discord asks
// for no acknowledgement. Instead, the channel stores up to which message everything was
// accepted, and reads later messages again when it connects anew (see [feed]).
package discord

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Name is the channel's name.
const Name = "discord"

// Options are the settings of the channel. See config.Discord for what they mean.
type Options struct {
	chat.Options
	Token     string
	APIURL    string // empty: Discord's own
	Reactions bool
}

// Channel is a connection to Discord as one bot: a [channels.Receiver], [channels.Sender],
// [channels.Finder], [channels.Keyed], [channels.Splitter], [channels.RecipientResolver],
// [channels.Locator] and [channels.Enricher]. Safe for concurrent use; only Run is for one
// caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It does not call Discord yet.
func New(o Options) (*Channel, error) {
	if o.Token == "" {
		return nil, errors.New("channels.discord.token is not set")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.APIURL == "" {
		o.APIURL = defaultAPI
	}
	o.APIURL = strings.TrimSuffix(o.APIURL, "/")
	o.CommandPrefix = "/"
	p := newPlatform(o)
	return &Channel{platform: p, Channel: chat.New(p, o.Options)}, nil
}

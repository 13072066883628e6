// Package mattermost is the Mattermost channel: it receives what is written over the
// websocket, and what it missed from the posts of each channel.
//
// Mattermost asks for no acknowledgement. Instead, the channel stores up to when everything
// was accepted, and reads later posts again when it connects anew (see [feed]).
package mattermost

import (
	"errors"
	"log/slog"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Name is the channel's name.
const Name = "mattermost"

// Options are the settings of the channel. See config.Mattermost for what they mean.
type Options struct {
	chat.Options
	URL         string // of the server
	Token       string
	CallbackURL string // where the server reaches Listen and Path; empty: no buttons
	Listen      string // host:port
	Path        string
}

// Channel is a connection to a Mattermost server as one bot: a [channels.Receiver],
// [channels.Sender], [channels.Finder], [channels.Splitter], [channels.RecipientResolver],
// [channels.Locator] and [channels.Enricher]. Safe for concurrent use; only Run is for one
// caller at a time.
type Channel struct {
	*platform
	*chat.Channel
}

// New returns a channel. It does not call Mattermost yet.
func New(o Options) (*Channel, error) {
	if o.URL == "" || o.Token == "" {
		return nil, errors.New("channels.mattermost.url and .token are not set")
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.URL = strings.TrimRight(o.URL, "/")
	o.CommandPrefix = "/"
	p := newPlatform(o)
	return &Channel{platform: p, Channel: chat.New(p, o.Options)}, nil
}

package matrix

import (
	"log/slog"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Name is the channel's name.
const Name = "matrix"

// Options are the settings of the channel. See config.Matrix for what they mean.
type Options struct {
	chat.Options
	// Homeserver is its address, such as https://matrix.example.org, or the name in user
	// IDs, such as example.org, which is asked for the address.
	Homeserver  string
	AccessToken string
}

func (o Options) withDefaults() Options {
	o.Homeserver = strings.TrimRight(o.Homeserver, "/")
	o.CommandPrefix = commandPrefix
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

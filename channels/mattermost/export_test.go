package mattermost

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// SetPace sets the pace of a channel under test, and how long a connection may be silent.
func SetPace(c *Channel, pace chat.Pace, silent time.Duration) {
	c.pace, c.silent = pace, silent
	c.Outbound = chat.NewOutbound(c.platform, chat.OutboundOptions{Drafts: c.o.Drafts, Logger: c.o.Logger})
}

// Quiet returns Markdown that notifies nobody.
var Quiet = quiet

// Read reads a post that is delivered, as the bot with this name.
func Read(raw []byte, self string) (*chat.Post, error) {
	p, err := readPost(raw)
	if err != nil {
		return nil, err
	}
	platform := newPlatform(Options{})
	platform.self = &user{ID: "self", Username: self}
	return platform.message(context.Background(), p, channel{ID: p.ChannelID, Type: "O"})
}

// ReadClick reads a click.
var ReadClick = readClick

// Listen connects to the websocket and returns why the connection ended before an event.
func Listen(ctx context.Context, c *Channel) error {
	connected, err := c.dial(ctx, session{})
	if err != nil {
		return err
	}
	_, err = connected.next(ctx)
	return err
}

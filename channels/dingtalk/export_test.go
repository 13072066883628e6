package dingtalk

import (
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// SetPace sets the pace of a channel under test, and how long a connection may be silent.
func SetPace(c *Channel, pace chat.Pace, silent time.Duration) {
	c.pace, c.silent = pace, silent
	o := chat.OutboundOptions{Drafts: c.o.Drafts, Logger: c.o.Logger}
	if c.o.CardTemplate == "" {
		c.Outbound = chat.NewOutbound(c.platform, o)
		return
	}
	c.Outbound = chat.NewOutbound(cards{c.platform}, o)
}

// Read parses a message.
var Read = readMessage

// ReadClick parses a click.
func ReadClick(c *Channel, data []byte) error {
	_, err := c.readClick(nil, data) //nolint:staticcheck // the channel has no store to ask
	return err
}

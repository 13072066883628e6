package telegram

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// What the tests look at from outside the package.
var (
	Render  = render
	PlainOf = plainOf
	Width   = width
	Content = content
	Refused = refusedToken
)

// Self asks Telegram who we are.
func (c *Channel) Self(ctx context.Context) (string, error) {
	self, err := c.whoAmI(ctx)
	return self.Username, err
}

// Hurry shortens the waits for tests, without a pace for messages.
func (c *Channel) Hurry() {
	c.polling.wait, c.polling.settle = 5*time.Second, 20*time.Millisecond
	c.pacer.Of = func(string) chat.Rhythm { return chat.Rhythm{Every: 1, Burst: 1 << 20} }
}

// SetPolling sets the times of long polling.
func (c *Channel) SetPolling(wait, settle, forget time.Duration) {
	c.polling = polling{wait, settle, forget}
}

// Parse parses an update.
func (c *Channel) Parse(payload []byte) (chat.Delivery, error) {
	_, d, err := c.parse(payload)
	return d, err
}

// SetPace sets the pace of drafts.
func (c *Channel) SetPace(pace chat.Pace) {
	c.pace = pace
	c.Outbound = chat.NewOutbound(c.platform, chat.OutboundOptions{Drafts: true, Logger: c.o.Logger})
}

// Become has the channel know who it is.
func (c *Channel) Become(username string) { c.self = &user{ID: 100001, Username: username} }

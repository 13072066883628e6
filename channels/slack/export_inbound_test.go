package slack

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// SetPingTimeout changes how long a connection may be silent.
func (c *Channel) SetPingTimeout(d time.Duration) { c.pingTimeout = d }

// Take handles a delivery as both transports do. It reports a panic, and returns the
// error that keeps it from being acknowledged.
func (c *Channel) Take(ctx context.Context, b channels.Backend, self Identity, kind string, payload []byte) (panicked bool, err error) {
	c.mu.Lock()
	c.identity = &self
	c.mu.Unlock()
	d, _, err := c.parse(kind, payload)
	if err != nil || d == nil {
		return errors.Is(err, chat.ErrPanic), err
	}
	err = chat.NewReceiver(once{c.platform, d}, receiverOptions(c.o)).Run(ctx, b)
	return errors.Is(err, chat.ErrPanic), err
}

// once delivers once.
type once struct {
	*platform
	delivery chat.Delivery
}

// Receive implements [chat.Platform].
func (o once) Receive(ctx context.Context, in chat.Inbox) error {
	_, err := in.Deliver(ctx, o.delivery)
	return err
}

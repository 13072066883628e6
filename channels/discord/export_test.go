package discord

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
)

// What the tests look at from outside the package.
var (
	Unmarked = unmarked
	Render   = render
	Cut      = cut
	Escape   = escape
)

// TextLimit is what a message may have besides its mark.
const TextLimit = textLimit

// Hasten shortens all pauses; drafts is the one before a draft.
func (c *Channel) Hasten(drafts time.Duration) {
	c.timing.save, c.timing.identify, c.timing.operator = time.Millisecond, time.Millisecond, 20*time.Millisecond
	c.pace = chat.Pace{
		Notice: time.Millisecond, Draft: drafts, Status: 5 * time.Millisecond, Edit: 10 * time.Millisecond, Call: 5 * time.Second, Retry: 5 * time.Millisecond,
	}
	c.Outbound = chat.NewOutbound(c.platform, chat.OutboundOptions{Drafts: c.o.Drafts, Logger: c.log})
}

// Defer sets after which time an interaction is answered before it is accepted.
func (c *Channel) Defer(d time.Duration) { c.timing.deferral = d }

// Invalid counts calls that Discord refused.
func (c *Channel) Invalid(n int) {
	for range n {
		c.invalid.add()
	}
}

// Take handles an event as the gateway does, and reports whether that panicked.
func (c *Channel) Take(ctx context.Context, b channels.Backend, kind string, data []byte) (panicked bool) {
	c.self = &identity{id: "100000000000000000", name: "holdfast"}
	c.timing.save = time.Hour
	receiver := chat.NewReceiver(once{c.platform, func(ctx context.Context, in chat.Inbox) {
		ctx, cancel := context.WithCancel(ctx)
		feed, err := openFeed(ctx, c.platform, in)
		if err != nil {
			panic(err)
		}
		g := &gateway{platform: c.platform, in: in, feed: feed, registered: true}
		panicked = errors.Is(g.event(ctx, frame{Type: kind, Data: data}), chat.ErrPanic)
		feed.mu.Lock()
		for _, l := range feed.lanes {
			l.behind = false // there is no server to ask
		}
		feed.mu.Unlock()
		cancel()
		feed.running.Wait()
		_ = in.Drain()
	}}, chat.ReceiverOptions{Access: chat.Access{Users: []string{channels.Anyone}, Chats: []string{channels.Anyone}}, Respond: chat.RespondAll})
	_ = receiver.Run(ctx, b)
	return panicked
}

// once receives by one call.
type once struct {
	*platform
	receive func(ctx context.Context, in chat.Inbox)
}

// Receive implements [chat.Platform].
func (o once) Receive(ctx context.Context, in chat.Inbox) error {
	o.receive(ctx, in)
	return nil
}

// SaveSeldom leaves storing the position to what cannot wait.
func (c *Channel) SaveSeldom() { c.timing.save = time.Hour }

// Closed returns the error of a connection that ended.
func (c *Channel) Closed(err error) error { return (&gateway{platform: c.platform}).closed(err) }

package discord

import (
	"time"

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
	c.Outbound = chat.NewOutbound(c.platform, chat.OutboundOptions{Drafts: c.o.Stream, Logger: c.log})
}

// Defer sets after which time an interaction is answered before it is accepted.
func (c *Channel) Defer(d time.Duration) { c.timing.deferral = d }

package slack

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Hasten shortens all pauses, but for how often a status and a draft are changed.
func (c *Channel) Hasten(drafts time.Duration) {
	c.pace = pace{
		notice: time.Millisecond, draft: drafts, status: 5 * time.Millisecond, stream: 10 * time.Millisecond,
		edit: 10 * time.Millisecond, call: 5 * time.Second, retry: 5 * time.Millisecond, lapse: time.Hour,
		settle: []time.Duration{20 * time.Millisecond, 40 * time.Millisecond}, sweep: 20 * time.Millisecond,
	}
}

// Calm lets a draft be changed once in a while only, and its calls take that long.
func (c *Channel) Calm(edits, calls time.Duration) {
	c.pace.stream, c.pace.edit, c.pace.call = edits, edits, calls
}

// Lapse is how long a status stays.
func (c *Channel) Lapse(d time.Duration) { c.pace.lapse = d }

// Notice is how long a message may take to be answered without any sign.
func (c *Channel) Notice(d time.Duration) { c.pace.notice = d }

// Follow shows how a message fares.
func (c *Channel) Follow(b channels.Backend, id string, msg domain.Inbound) {
	c.follow(b, id, msg)
}

// Housekeep is what Run does besides, until ctx ends.
func (c *Channel) Housekeep(ctx context.Context, b channels.Backend) { c.housekeep(ctx, b) }

// Followed is how many messages are followed.
func (c *Channel) Followed() int {
	c.followers.mu.Lock()
	defer c.followers.mu.Unlock()
	if c.followers.ctx == nil {
		return -1
	}
	return len(c.followers.ids)
}

// OpenDrafts is how many drafts this process shows and knows the place of.
func (c *Channel) OpenDrafts() int {
	c.drafts.mu.Lock()
	defer c.drafts.mu.Unlock()
	return len(c.drafts.open)
}

// StopAction names the Stop button.
const StopAction = stopAction

// Asked reports whether a person was asked something in a conversation since its
// last reply.
func (c *Channel) Asked(chat, thread string) bool { return c.asked.had(lane(chat, thread)) }

package chat

import (
	"cmp"
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Inbox takes what a platform delivers. A nil error means that a delivery may be
// acknowledged; after an error the platform has to deliver it again. Deliveries of one
// conversation are handled in the order of the calls, others concurrently.
type Inbox interface {
	// Ready waits until the bot's identity is known.
	Ready(ctx context.Context) error
	// Deliver handles a delivery and returns what to answer to who gave a [Command].
	// Handling that has begun does not stop when ctx ends.
	Deliver(ctx context.Context, d Delivery) (answer string, err error)
	// Queue is Deliver without waiting: it takes the delivery's place in the order and
	// calls done once it is handled, from another goroutine.
	Queue(ctx context.Context, d Delivery, done func(answer string, err error))
	// Drain waits until everything queued is handled, at most for a few seconds.
	Drain() error
	// Poll receives from a platform that is asked for news, until ctx ends. See [Fetch].
	Poll(ctx context.Context, name string, fetch Fetch) error
}

// Fetch makes one call that asks a platform for what came after cursor, which is empty
// the first time, and returns the cursor of the next call. [Inbox.Poll] stores that only
// after it accepted the deliveries, so that none is lost by a crash.
type Fetch func(ctx context.Context, cursor string) (news []Delivery, next string, err error)

// Delivery is a [Post], a [Click] or a [Command].
type Delivery interface{ origin() *Origin }

// Origin says where a delivery comes from.
type Origin struct {
	// Inbound is the delivery as the agent will see it. The core sets Channel and
	// Push. In a Click, Text is empty and PlatformID is the click's.
	domain.Inbound
	Opens  string // the thread that an answer opens; empty: none, or the message is in Thread
	Direct bool   // the chat is between the sender and us alone
	Bot    bool   // another bot sent it
	// BotIDs are further IDs of a bot by which it may be allowed.
	BotIDs []string
}

func (o *Origin) origin() *Origin { return o }

// conversation is the thread or chat in whose order a delivery is handled.
func (o *Origin) conversation() string { return o.Chat + "/" + o.thread() }

// thread is the thread of the conversation.
func (o *Origin) thread() string { return cmp.Or(o.Thread, o.Opens) }

// Post is a message that somebody wrote.
type Post struct {
	Origin
	Mentioned bool // it mentions us
	Replies   bool // its thread began with a message of ours
	Own       bool // we wrote it
}

// Click is a click on a [Button], or on something else that means the same.
type Click struct {
	Origin
	Action Action
	Value  string // the button's; empty: the conversation is meant
}

// Command is a command that was not written as a message: Text is the command without a
// slash, and ID identifies this use of it.
type Command struct{ Origin }

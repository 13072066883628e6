package chat

import (
	"cmp"
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Inbox receives a platform's deliveries. A nil error means that a delivery may be
// acknowledged; after an error the platform must redeliver it. Deliveries of one
// conversation are handled in the order of the calls, others concurrently.
type Inbox interface {
	// Ready waits until the bot's identity is known.
	Ready(ctx context.Context) error
	// Deliver handles a delivery and returns the response to the caller of a [Command].
	// Handling that has begun does not stop when ctx ends.
	Deliver(ctx context.Context, d Delivery) (answer string, err error)
	// Queue is Deliver without waiting: it takes the delivery's place in the order and
	// calls done once it is handled, from another goroutine.
	Queue(ctx context.Context, d Delivery, done func(answer string, err error))
	// DeliverAll handles what a platform delivers at once, and waits for it. It stops in a
	// conversation after an error: what follows must not overtake what will be delivered again.
	DeliverAll(ctx context.Context, all []Delivery) error
	// Drain waits until everything queued is handled, at most for a few seconds.
	Drain() error
	// Poll polls a platform until ctx ends. See [Fetch].
	Poll(ctx context.Context, name string, fetch Fetch) error
	// LetsIn reports whether a person is answered, if only in direct messages: a platform
	// whose account must first join a chat asks before it follows an invitation.
	LetsIn(ctx context.Context, person string) (bool, error)
	// Cursors returns where a platform that is not polled stores how far it has delivered;
	// nil if the backend stores no cursors.
	Cursors() Cursors
}

// Cursors stores how far a platform has delivered, by names of its own.
type Cursors interface {
	// Read returns a cursor; empty if none was stored.
	Read(ctx context.Context, name string) (string, error)
	// Store stores a cursor. Everything before it must have been accepted.
	Store(ctx context.Context, name, cursor string) error
}

// Fetch makes one call for the deliveries after cursor, which is empty the first time, and
// returns the cursor for the next call. [Inbox.Poll] stores that only
// after it accepted the deliveries, so that none is lost by a crash.
type Fetch func(ctx context.Context, cursor string) (news []Delivery, next string, err error)

// Delivery is a [Post], a [Change], a [Click], a [Command] or a [Visit].
type Delivery interface{ origin() *Origin }

// Origin is the origin of a delivery.
type Origin struct {
	// Inbound is the delivery as the agent will see it. The core sets Channel and
	// Push. In a Click, Text is empty and PlatformID is the click's.
	domain.Inbound
	Opens  string // the thread that an answer opens; empty: none, or the message is in Thread
	Direct bool   // the chat is a direct message
	Bot    bool   // another bot sent it
	// Outsider says that the sender belongs to another workspace or server, so that
	// [channels.Anyone] does not include them.
	Outsider bool
	// BotIDs are further IDs of a bot by which it may be allowed.
	BotIDs []string
}

func (o *Origin) origin() *Origin { return o }

// conversation is the thread or chat in whose order a delivery is handled.
func (o *Origin) conversation() string { return o.Chat + "/" + o.thread() }

// thread is the thread of the conversation.
func (o *Origin) thread() string { return cmp.Or(o.Thread, o.Opens) }

// Post is a message.
type Post struct {
	Origin
	Mentioned bool // it mentions us
	// Revision names the version of a message that was edited; empty: it was not. If another
	// version was accepted, this one is a new request.
	Revision string
	Replies  bool // its thread began with a message of ours
	Own      bool // we wrote it
}

// Change is an edit of a message that was posted before, or its removal. The Origin is that
// of the message as it is now, with its PlatformID.
type Change struct {
	Origin
	Version string // identifies the change among those of the message
	Deleted bool
}

// Click is a click on a [Button] or an equivalent, such as a shortcut. Of a person's ratings,
// the one with the latest SentAt counts.
type Click struct {
	Origin
	Action Action
	Value  string // the button's; empty: the conversation
	// Home says that it was made on the person's page, in whose direct chat it counts.
	Home bool
}

// Command is a command that was not written as a message: Text is the command without a
// slash, and ID identifies this invocation.
type Command struct{ Origin }

package channels

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// Backend is what a channel may ask of us. The starter implements it.
type Backend interface {
	Inbox
	Pairing
	Drafts
	// Watch calls on with what happens to a message until it is answered or ctx
	// ends; events may be missed but for [event.Done], which comes last and is
	// never missed. It may be called before the message is accepted.
	Watch(ctx context.Context, id string, on func(event.Event)) error
	// Transcript returns the stored messages of a session, oldest first.
	// [ErrNotFound] if there is no such session.
	Transcript(ctx context.Context, session string) ([]domain.Message, error)
	// Unasked returns the replies of a session that ended after a time and that nobody
	// wrote for, oldest first, at most 100. None if there is no such session.
	Unasked(ctx context.Context, session string, after time.Time) ([]domain.BackgroundReply, error)
}

// Inbox takes messages in and tells how they fare.
type Inbox interface {
	// Accept takes a message. After a nil error it is durable and may be
	// acknowledged. The same message again is not an error. [ErrConflict] if its
	// ID was used for another text or session.
	Accept(ctx context.Context, msg domain.Inbound) (Accepted, error)
	// Message returns how far the answer to a message is, by our ID of it (see
	// [Inbox.MessageID]). [ErrNotFound] if it was never accepted.
	Message(ctx context.Context, id string) (domain.Reply, error)
	// MessageID returns our ID of a message from the platform's.
	MessageID(channel, scope, id string) string
	// Known reports whether a message was ever accepted in this conversation.
	Known(ctx context.Context, channel, chat, thread string) (bool, error)
	// Unanswered returns the channel's accepted messages whose reply is still to
	// come, oldest first, at most 1,000.
	Unanswered(ctx context.Context, channel string) ([]domain.Inbound, error)
}

// Pairing lets people in who are not on a channel's list, once the operator agreed
// (`holdfast pairing approve CODE`).
type Pairing interface {
	// Paired reports whether the operator let this sender in.
	Paired(ctx context.Context, channel, sender string) (bool, error)
	// Pair returns the code by which the operator can let this sender in. It is the
	// same for an hour; name is shown to the operator.
	Pair(ctx context.Context, channel, sender, name string) (code string, err error)
}

// Drafts keeps track of messages that a channel shows while a reply is being made
// and that become the reply, so that none is left behind by a crash. A turn has
// one at most; it is named by the message that began it.
type Drafts interface {
	// ClaimDraft is called before a draft is posted, and returns the outbox ID of the
	// reply that it will become. Empty if none may be posted: the turn has one
	// already, or has ended.
	ClaimDraft(ctx context.Context, message string) (reply string, err error)
	// PostedDraft records where the draft is. It reports false if the reply went out
	// without it in the meantime: the caller removes it.
	PostedDraft(ctx context.Context, message, platformID string) (bool, error)
	// DropDraft forgets a turn's draft, after the caller removed it.
	DropDraft(ctx context.Context, message string) error
	// StaleDrafts returns the channel's drafts that no reply will take over: the
	// caller removes them.
	StaleDrafts(ctx context.Context, channel string) ([]Draft, error)
}

// Draft is a message that was to become a reply.
type Draft struct {
	Message    string // our ID of the message that began the turn
	Reply      string // the outbox ID that it carries in its metadata
	PlatformID string // empty: it may have been posted, nobody knows
	Chat       string
	Thread     string
	ClaimedAt  time.Time // a moment before it was posted
}

// Package channels defines the interfaces between a channel and the agent: those that a
// channel implements, and those that it may call. Channels are subpackages that do not
// import each other.
package channels

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// ErrGone is wrapped by a [Sender]'s error if the chat is permanently closed to us: it was
// deleted or archived, or the bot was removed. It is not retryable.
var ErrGone = errors.New("the chat cannot be written to")

// ErrUndeliverableNow is wrapped by a [Sender]'s error if the platform accepts messages for
// this chat only after someone writes there again: the messaging window closed, or the reply
// quota is used up. The message is kept and sent before the next reply.
var ErrUndeliverableNow = errors.New("the chat cannot be written to before its next message")

// Anyone is the entry of an allow list that matches every ID.
const Anyone = "*"

// Accepted is the receipt for an inbound message.
type Accepted struct {
	Message    string // our ID of the message
	Session    string // session key
	WorkflowID string
	Duplicate  bool // it was accepted before
}

// Sent is the result of sending a message.
type Sent struct {
	PlatformID string
}

// Receiver takes messages from a platform.
type Receiver interface {
	// Run receives until ctx ends, reconnecting as needed. It acknowledges a
	// message to the platform only after [Backend.Accept] returned nil.
	Run(ctx context.Context, b Backend) error
}

// Sender sends messages to a platform. Safe for concurrent use.
type Sender interface {
	// Send makes one attempt. Failed calls are remote.Errors. The error wraps [ErrGone] if
	// no attempt can succeed, [ErrUndeliverableNow] if none can for now.
	Send(ctx context.Context, msg domain.Outbound) (Sent, error)
}

// Finder is a [Sender] that can look for what it sent before.
type Finder interface {
	// Find looks for the message with this ID, and for its draft.
	Find(ctx context.Context, msg domain.Outbound) (Found, error)
}

// Found is the result of [Finder].
type Found struct {
	Posted     bool   // the message is there, in its final form
	PlatformID string // of the message, or else of its draft; empty: neither exists
}

// Keyed is a [Sender] whose platform may recognize a message that is sent again.
type Keyed interface {
	// KeyLasts returns how long after a message was first sent it does; 0: not at all.
	KeyLasts() time.Duration
}

// ErrNoDraft is wrapped by the error of a [Placeholders]' Send if the message's draft is not
// there or cannot be edited any more.
var ErrNoDraft = errors.New("the draft is gone")

// Placeholders is a [Sender] whose platform may show neither what was posted nor whether it
// was. Then each message is the edit of a recorded placeholder, which may be repeated: of an
// answer that is lost only a placeholder is left. A file's may be an upload that nobody sees.
type Placeholders interface {
	// Placeholder posts what becomes msg if it is given to Send as its Draft, and returns the
	// platform's ID of it; empty: Send needs none.
	Placeholder(ctx context.Context, msg domain.Outbound) (platformID string, err error)
}

// Splitter is a [Sender] for a platform that limits the length of messages.
type Splitter interface {
	// Split splits text (Markdown) into messages, in order. It is deterministic.
	Split(text string) []domain.Part
}

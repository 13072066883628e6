package channels

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// Backend accepts messages and reports on them. The starter implements it. A channel
// asks for its other abilities, such as [Requests], [Pairing] and [Sessions], by type
// assertion.
type Backend interface {
	// Accept stores a message. After a nil error the message is durable and may be
	// acknowledged to the platform. Accepting it again is not an error.
	// [domain.ErrConflict] if its ID belongs to a message with another text or session.
	Accept(ctx context.Context, msg domain.Inbound) (Accepted, error)
	// Message returns the state of the reply to a message, by [domain.MessageID].
	// [domain.ErrNotFound] if the message was never accepted.
	Message(ctx context.Context, id string) (domain.Reply, error)
	// Watch reports the events of a message until its reply is final or ctx ends. Events
	// may be lost, except [event.Done], which is the last one. The message may be
	// accepted later.
	Watch(ctx context.Context, id string, on func(event.Event)) error
}

// Requests is a [Backend] that looks up accepted messages.
type Requests interface {
	// Known reports whether a message was ever accepted in this conversation.
	Known(ctx context.Context, channel, chat, thread string) (bool, error)
	// Unanswered returns the channel's accepted messages without a final reply, oldest
	// first, at most 1,000.
	Unanswered(ctx context.Context, channel string) ([]domain.Inbound, error)
}

// Pairing is a [Backend] that admits senders who are not on a channel's list, once the
// operator approves them with `holdfast pairing approve CODE`.
type Pairing interface {
	// Paired reports whether the operator approved this sender.
	Paired(ctx context.Context, channel, sender string) (bool, error)
	// Pair returns the code by which the operator can approve this sender. It stays the
	// same for an hour; the operator is shown name.
	Pair(ctx context.Context, channel, sender, name string) (code string, err error)
}

// Ratings is a [Backend] that stores what people think of replies.
type Ratings interface {
	// Rate stores a person's rating of a reply in place of an earlier one of theirs. After a
	// nil error it is durable. [domain.ErrNotFound] if the chat has no such reply.
	Rate(ctx context.Context, r domain.Rating) error
}

// Homes is a [Backend] that knows what a person's own page shows.
type Homes interface {
	// Home returns the page of a person, who must be allowed to use the agent.
	Home(ctx context.Context, channel, person string) (domain.Home, error)
}

// Chats is a [Backend] that finds the chats of clients which send all of a conversation with
// each message.
type Chats interface {
	// OpenChat returns the chat of a request.
	OpenChat(ctx context.Context, request domain.ChatRequest) (domain.Chat, error)
	// AnsweredChat records what has been said in a session, as a hash, once a request is
	// answered.
	AnsweredChat(ctx context.Context, session, request, said string) error
	// ReceivedChat records that the client has the answer.
	ReceivedChat(ctx context.Context, session, request string) error
}

// Sessions is a [Backend] that reads sessions.
type Sessions interface {
	// Transcript returns the last 1,000 messages of a session, oldest first.
	// [domain.ErrNotFound] if the session does not exist.
	Transcript(ctx context.Context, session string) ([]domain.Message, error)
	// Background returns the background replies of a session that ended after a time,
	// oldest first, at most 100.
	Background(ctx context.Context, session string, after time.Time) ([]domain.BackgroundReply, error)
}

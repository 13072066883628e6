// Package channels has what every chat platform's connection shares: the
// messages, the small interfaces a channel implements, and what it may ask of us.
// The platforms are its subpackages; they know this package and not each other.
package channels

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/event"
)

// ErrConflict is returned by [Backend.Accept] for an ID that was accepted before
// with another text or session.
var ErrConflict = errors.New("this message ID was used before for another message")

// ErrNotFound is returned for a message or session that is not there.
var ErrNotFound = errors.New("not found")

// ErrGone is wrapped by a [Sender]'s error when the chat cannot be written to any
// more (deleted, archived, the bot was removed): trying again cannot help.
var ErrGone = errors.New("the chat cannot be written to")

// InboundMessage is a message as it arrives.
type InboundMessage struct {
	Channel    string // the channel's name: "http", "slack"
	Scope      string // what ID is unique within, besides the channel; empty: the whole channel
	ID         string // the platform's ID of the message; the same again is a redelivery
	Chat       string // the platform's ID of the chat
	Thread     string // of the thread in it; empty where there is none
	Sender     string // the platform's ID of who wrote it
	SenderName string
	Text       string
	SentAt     time.Time // when the platform says it was sent; zero: now
	Push       bool      // the reply has to be sent through the channel's [Sender]; false: the client fetches it
	Queue      bool      // never joins a running turn
}

// Accepted is the receipt for an inbound message.
type Accepted struct {
	Message    string // our ID of the message
	Session    string // session key
	WorkflowID string
	Duplicate  bool // it had been accepted before
}

// OutboundMessage is a message to be sent.
type OutboundMessage struct {
	ID      string // the outbox ID: the same in every attempt, and put into the platform's metadata where it has some
	Channel string
	Chat    string
	Thread  string
	Text    string // Markdown
}

// Sent says where an outbound message ended up.
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
	// Send makes one attempt. Failed calls are remote.Errors; one that cannot ever
	// succeed for this chat wraps [ErrGone].
	Send(ctx context.Context, msg OutboundMessage) (Sent, error)
}

// Finder is a [Sender] that can look for what it sent before.
type Finder interface {
	// Find reports whether the message with this ID was posted already.
	Find(ctx context.Context, msg OutboundMessage) (Sent, bool, error)
}

// Status is how far the answer to a message is.
type Status string

// The statuses of a message.
const (
	Queued  Status = "queued"  // accepted, waits for its turn
	Running Status = "running" // its turn is on
	Done    Status = "done"    // answered
	Failed  Status = "failed"  // its turn ended without an answer from the model; Reply says why
)

// Ended reports whether the status is final.
func (s Status) Ended() bool { return s == Done || s == Failed }

// MessageState is an accepted message and how far its answer is.
type MessageState struct {
	Message string // our ID of the message
	Session string
	Status  Status
	Reply   string // Markdown; empty until the status is final
	Turn    string // empty while queued
	Usage   Usage
}

// Usage counts the tokens that a turn consumed.
type Usage struct {
	PromptTokens     int
	CompletionTokens int
}

// TranscriptMessage is one stored message of a session.
type TranscriptMessage struct {
	Turn       string     `json:"turn"`
	Step       int        `json:"step"`
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Sender     string     `json:"sender,omitempty"`
	Name       string     `json:"name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`
	CreatedAt  time.Time  `json:"created_at"`
}

// ToolCall is a tool call in a [TranscriptMessage].
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Backend is what a channel may ask of us. The starter implements it.
type Backend interface {
	// Accept takes a message. After a nil error it is durable and may be
	// acknowledged. The same message again is not an error. [ErrConflict] if its
	// ID was used for another text or session.
	Accept(ctx context.Context, msg InboundMessage) (Accepted, error)
	// Message returns how far the answer to a message is, by our ID of it (see
	// [Backend.MessageID]). [ErrNotFound] if it was never accepted.
	Message(ctx context.Context, id string) (MessageState, error)
	// MessageID returns our ID of a message from the platform's.
	MessageID(channel, scope, id string) string
	// Watch calls on with what happens to a message until it is answered or ctx
	// ends; events may be missed but for [event.Done], which comes last and is
	// never missed. It may be called before the message is accepted.
	Watch(ctx context.Context, id string, on func(event.Event)) error
	// Transcript returns the stored messages of a session, oldest first.
	// [ErrNotFound] if there is no such session.
	Transcript(ctx context.Context, session string) ([]TranscriptMessage, error)
}

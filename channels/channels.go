// Package channels has what every chat platform's connection shares: the
// messages, the small interfaces a channel implements, and what it may ask of us.
// The platforms are its subpackages; they know this package and not each other.
package channels

import (
	"context"
	"errors"
	"time"
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
	Files      []File    // what was attached, to be fetched by the channel's [Gatherer]
	Push       bool      // the reply has to be sent through the channel's [Sender]; false: the client fetches it
	Queue      bool      // never joins a running turn
}

// File is something attached to a message, as the platform describes it.
type File struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime"`
	Size int64  `json:"size"` // bytes
	URL  string `json:"url"`  // where the channel fetches it
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
	Text    string // Markdown; of a file: its description, which may be empty
	// File is what is sent, if not nil; else Text is.
	File *OutboundFile
	// Approval is the ID of the question that the message asks, whether a tool call may
	// be run; empty if it asks none. A channel with buttons offers them, and accepts a
	// click as "/approve ID" or "/deny ID" of who clicked; another adds [HowToAnswer].
	Approval string
	// Draft is the platform's ID of a message that stood for this one while it was
	// being written, and that becomes it (or is removed, if this one is a file);
	// empty if there is none.
	Draft string
}

// OutboundFile is a file to be sent.
type OutboundFile struct {
	Name    string
	Content []byte
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
	// Find looks for the message with this ID, and for its draft.
	Find(ctx context.Context, msg OutboundMessage) (Found, error)
}

// Found is what a [Finder] found.
type Found struct {
	Posted     bool   // the message is there, as it is to be
	PlatformID string // of the message, or else of its draft; empty: neither is there
}

// Splitter is a [Sender] of a platform that does not take messages of any length.
type Splitter interface {
	// Split returns the messages that text (Markdown) is sent as, in order. The same
	// text always gives the same parts.
	Split(text string) []Part
}

// Reacher is a [Sender] that can also write to chats that nobody wrote from.
type Reacher interface {
	// Reach returns the chat that a person means by to ("#ops", "@ana", or the
	// platform's ID), if that sender may write there too. The error says, for a
	// model to read, why not; failed calls are remote.Errors.
	Reach(ctx context.Context, sender, to string) (chat string, err error)
}

// Part is a message that a long one is sent as.
type Part struct {
	Text string // Markdown; of a file, its content
	File string // not empty: sent as a file with this name
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
	// Approvals are what the conversation waits for, while the status is Running or, if
	// the client fetches the reply, Queued.
	Approvals []Approval
	// Answered is set of an ended message that answered a question which is there.
	Answered *AnsweredApproval
}

// AnsweredApproval says how a question stands that a message answered.
type AnsweredApproval struct {
	ID     string
	Status ApprovalStatus
	By     string // CHANNEL:SENDER; empty unless approved or denied
	Counts bool   // it was this message that decided
}

// ApprovalStatus says how a question stands whether a tool call may be run.
type ApprovalStatus string

// The statuses of an approval.
const (
	ApprovalWaiting  ApprovalStatus = "waiting"
	ApprovalApproved ApprovalStatus = "approved"
	ApprovalDenied   ApprovalStatus = "denied"
	ApprovalExpired  ApprovalStatus = "expired"
	ApprovalDropped  ApprovalStatus = "dropped" // the turn ended, or the user wrote something else
)

// Cause says what began a turn that nobody wrote for.
type Cause string

// The causes of replies that come unasked.
const (
	CauseJob      Cause = "job"      // a job was due
	CauseSubagent Cause = "subagent" // a subagent reported
)

// UnaskedReply is a reply to no message of a person's. On a push channel it is sent;
// clients of another fetch it.
type UnaskedReply struct {
	Turn    string    `json:"turn"`
	Cause   Cause     `json:"cause"`
	Label   string    `json:"label"`  // what the job or the subagent is called
	Status  Status    `json:"status"` // final
	Reply   string    `json:"reply"`  // Markdown
	EndedAt time.Time `json:"ended_at"`
}

// Approval is a question whether a tool call may be run.
type Approval struct {
	ID        string `json:"id"`
	Tool      string `json:"tool"`
	Title     string `json:"title"`     // of the call: a command, a path, or its arguments
	Arguments string `json:"arguments"` // of the call, as a person is to be shown them who is asked
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

package domain

import "time"

// Outbound is a message to be delivered. The sender of a channel reads the fields up to
// Ratable.
type Outbound struct {
	ID       string // the same in every attempt; stored in the platform's metadata where possible
	Channel  string
	Chat     string
	Thread   string
	ReplyTo  string // the platform's ID of the message that it answers; empty: none
	Part     int    // numbers the messages of a long reply from 1; 0: sent whole
	Text     string // Markdown; the description of a file, which may be empty
	File     string // not empty: sent as a file with this name
	Content  []byte // of the file; set when it is sent
	Approval string // ID of the approval that it asks for; a channel without buttons adds how to answer
	Draft    string // the platform's ID of the draft that becomes this message, or is removed for a file; empty: none
	Replace  bool   // remove Draft and post a new message
	Ratable  bool   // it is the model's reply of the turn, or the end of it: people may rate it

	Turn      string
	Session   string
	Path      string // of the file, relative to the workspace; empty: Text is its content
	State     OutboxState
	Fence     int64     // of the current claim
	Claimed   bool      // an earlier claim was left open: the message may have been posted
	ClaimedAt time.Time // last claim; zero: none, or released
	// FirstClaimedAt is when the oldest open claim was made: no earlier attempt can have posted.
	FirstClaimedAt time.Time
	PlatformID     string // once sent; before, of the placeholder that becomes it
	Error          string // why the last attempt did not post
}

// OutboxState is how far a delivery is.
type OutboxState string

// The states of an outbound message.
const (
	OutboxPending OutboxState = "pending"
	OutboxSent    OutboxState = "sent"
	OutboxKept    OutboxState = "kept"   // undeliverable for now: sent before the reply to the chat's next message
	OutboxFailed  OutboxState = "failed" // permanently undeliverable
)

// Part is one message of a long reply that is sent as several.
type Part struct {
	Text string // Markdown; the content of a file
	File string // not empty: sent as a file with this name
}

// Draft is a message shown while a turn's reply is being written; it becomes the reply.
type Draft struct {
	Turn       string
	Channel    string
	Chat       string
	Thread     string
	PlatformID string    // empty: it may or may not have been posted
	ClaimedAt  time.Time // a moment before it was posted
	Taken      bool      // the reply took it over
	// Replace is set where the reply is not to be an edit of the draft: a question was
	// posted below it, or the turn was stopped and its steps may still be editing it.
	Replace bool
}

// Reply returns the outbox ID of the reply that the draft becomes.
func (d Draft) Reply() string { return OutboxID(d.Turn) }

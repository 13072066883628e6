// Package store keeps what must not be lost: accepted messages, transcripts,
// what tool calls intend to do and what came of them, and replies to be sent. It
// is SQL: SQLite on one machine, Postgres on many.
//
// Each method is one transaction. Rows that say what happened (messages,
// completions, results, intents) are inserted if absent: the first writer wins,
// and a later one is given what is stored. Rows that change (outbox) carry a
// fence issued by the store, so that a writer that was replaced cannot
// overwrite its successor.
package store

import (
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

// Errors that callers test for.
var (
	ErrNotFound  = errors.New("not found")
	ErrConflict  = errors.New("the ID is taken by another message")
	ErrTurnEnded = errors.New("the turn has ended")
	ErrFenced    = errors.New("another attempt took over")
)

// TurnStatus says how a turn is or ended.
type TurnStatus string

// The statuses of a turn.
const (
	TurnRunning TurnStatus = "running"
	TurnDone    TurnStatus = "done"    // the model answered, or a command was
	TurnFailed  TurnStatus = "failed"  // an error ended it; the reply says which
	TurnStopped TurnStatus = "stopped" // a user ended it
)

// Inbound is an accepted message. Its row is the acceptance.
type Inbound struct {
	ID         string // our ID of the message
	PlatformID string
	Session    string // session key
	Channel    string
	Chat       string
	Thread     string
	Sender     string
	SenderName string
	Text       string
	Command    string          // empty for a plain message
	Push       bool            // its reply has to be delivered
	Join       bool            // it may join a running turn
	Files      []channels.File // attached to it, at the platform
	SentAt     time.Time
	AcceptedAt time.Time // set by the store
	Turn       string    // the turn that consumed it; empty: none yet
	Gathered   *Gathered // nil: not asked for yet
	Child      string    // it is the report of the subagent that this call spawned
	Job        string    // it is a message of this job
}

// Gathered is what a channel was asked for after it delivered a message.
type Gathered struct {
	Text       string               `json:"text"` // the message's, as the model reads it
	SenderName string               `json:"sender_name,omitempty"`
	Zone       string               `json:"zone,omitempty"` // IANA name of the sender's time zone
	Files      []channels.SavedFile `json:"files,omitempty"`
}

// Turn is a request and all that is done to answer it.
type Turn struct {
	ID         string
	Session    string
	Epoch      int // counts the session's fresh starts
	Status     TurnStatus
	Sender     string
	Reply      string // what the user was answered; empty while running
	Outbox     string // ID of the reply to be delivered; empty for pull channels
	WorkflowID string
	RunID      string
	StartedAt  time.Time
	EndedAt    time.Time // zero while running
	Usage      llm.Usage // of all its steps
	Steps      int       // completions stored
	Cost       int64     // millionths of a US dollar, as far as prices are known
	Unpriced   int       // completions whose cost is not known
	Model      string    // that its session was told to use, as provider/model; empty: the configured one
	Scope      string    // whose memory it belongs to; empty: nobody's
}

// Message is one row of a transcript.
type Message struct {
	Turn       string
	Step       int
	Index      int // of a user message among those its step took in; of a tool result among its step's calls; 0 for a completion
	Role       llm.Role
	Content    string
	Reasoning  string
	ToolCalls  []llm.ToolCall // completions
	CallID     string         // results: which call they answer
	Name       string         // results: the tool
	Failed     bool           // results: the call failed
	Full       []byte         // results: all of the output, when Content was cut; written, never read back with a transcript
	Filled     bool           // results: nobody ran the call; the text says why
	Sender     string         // user messages
	SenderName string         // user messages
	Source     string         // user messages: the inbound message's ID
	CreatedAt  time.Time
}

// BeginInput is what the start of a step makes true.
type BeginInput struct {
	Session    string
	Channel    string
	Turn       string
	Step       int
	Messages   []string // inbound IDs that this step takes in
	WorkflowID string
	RunID      string
	Window     int // how many messages of earlier turns History has at most
	// Scope says whose memory a turn belongs to that a message begins; nil: nobody's.
	Scope func(Inbound) string
}

func (in BeginInput) scope(first Inbound) string {
	if in.Scope == nil {
		return ""
	}
	return in.Scope(first)
}

// Begun is a turn as a step finds it.
type Begun struct {
	Turn       Turn
	Answered   bool      // none of the messages is left for this turn: Turn is the one that consumed them, and nothing was made
	Completion *Message  // the step's completion, if it is stored already
	History    []Message // the last Window messages of this epoch's ended turns, then all of this turn's, in order
	Inbound    []Inbound // the messages that this turn has consumed, in order
	Prompt     string    // the system prompt of the turn's steps so far; empty: there is none yet
}

// Completion is a model's answer, to be stored.
type Completion struct {
	Turn     string
	Step     int
	Message  Message // role assistant
	Provider string
	Model    string
	Usage    llm.Usage
	Cached   int   // of the prompt's tokens
	Cost     int64 // millionths of a US dollar
	Priced   bool  // Cost is known
	Duration time.Duration
	Prompt   string // system prompt, stored once under its hash
	Final    bool   // ends the turn: Reply is the answer
	Reply    string
	Silent   bool // the reply is not delivered
}

// Intent is what a tool call said it was about to do.
type Intent struct {
	Turn string
	Call string // call key
	Part string
	Data []byte
}

// End closes a turn that the model did not finish.
type End struct {
	Session    string
	Channel    string
	Turn       string
	Messages   []string // inbound IDs taken in by the step that did not complete
	Status     TurnStatus
	Reply      string
	Fill       string // content for tool calls without a result
	Silent     bool   // make no outbox row
	WorkflowID string
	RunID      string
}

// Outbound is a reply to be delivered.
type Outbound struct {
	ID         string
	Turn       string
	Channel    string
	Session    string
	Chat       string
	Thread     string
	Text       string
	File       string // not empty: sent as a file with this name
	Path       string // of the file, relative to the workspace; empty: Text is its content
	Approval   string // ID of the approval that it asks for; empty: none
	State      OutboxState
	Fence      int64     // of the claim that was just made
	Claimed    bool      // an earlier claim was made and nothing recorded: it may have been posted
	ClaimedAt  time.Time // of the last claim; zero: none, or it was released
	PlatformID string    // once sent
	Error      string    // once failed
}

// OutboxState says how far a delivery is.
type OutboxState string

// The states of a reply in the outbox.
const (
	OutboxPending OutboxState = "pending"
	OutboxSent    OutboxState = "sent"
	OutboxFailed  OutboxState = "failed" // cannot be delivered; kept
)

// Session is a conversation.
type Session struct {
	Key       string
	Channel   string
	Epoch     int
	Turns     int
	Messages  int
	Usage     llm.Usage
	Cost      int64  // millionths of a US dollar, as far as prices are known
	Unpriced  int    // completions whose cost is not known
	Model     string // that it was told to use, as provider/model; empty: the configured one
	CreatedAt time.Time
	UpdatedAt time.Time
}

package domain

import "time"

// Turn is a request and the work done to answer it. `holdfast sessions --json` prints its
// JSON.
type Turn struct {
	ID         string     `json:"id"`
	Session    string     `json:"-"`
	Epoch      int        `json:"-"` // counts the session's fresh starts
	Status     TurnStatus `json:"status"`
	Sender     string     `json:"-"`
	Reply      string     `json:"reply,omitempty"` // the user's answer; empty while running
	Outbox     string     `json:"-"`               // ID of the reply to be delivered; empty for pull channels
	WorkflowID string     `json:"-"`
	RunID      string     `json:"run_id,omitempty"`
	StartedAt  time.Time  `json:"started_at"`
	EndedAt    time.Time  `json:"ended_at,omitzero"` // zero while running
	Steps      int        `json:"steps"`             // completions stored
	Spent                 // of all steps
	Model      string     `json:"model,omitempty"` // chosen for the session, as provider/model; empty: the configured one
	Scope      string     `json:"-"`               // memory scope; empty: none
}

// TurnStatus is the state of a turn.
type TurnStatus string

// The statuses of a turn.
const (
	TurnRunning TurnStatus = "running"
	TurnDone    TurnStatus = "done"    // the model answered, or a command was answered
	TurnFailed  TurnStatus = "failed"  // an error ended it; the reply names it
	TurnStopped TurnStatus = "stopped" // a user ended it
)

// Step is a turn as one of its steps finds it.
type Step struct {
	Turn       Turn
	Answered   bool      // another turn, given in Turn, consumed all of the step's messages; this one was not created
	Completion *Message  // the step's completion, if it is stored already
	History    []Message // the end of the epoch's earlier turns, then all of this turn, in order
	Inbound    []Inbound // the messages that this turn consumed, in order
	Prompt     string    // system prompt of the turn's earlier steps; empty on the first
}

// Reply returns the status of the replies to the turn's messages.
func (s TurnStatus) Reply() ReplyStatus {
	switch s {
	case TurnDone:
		return ReplyDone
	case TurnFailed, TurnStopped:
		return ReplyFailed
	default:
		return ReplyRunning
	}
}

package domain

import "time"

// Approval is a question whether a tool call may run. Its JSON is part of the public
// HTTP API.
type Approval struct {
	ID            string         `json:"id"` // see [ApprovalID]
	Tool          string         `json:"tool"`
	Title         string         `json:"title"`     // of the call: a command, a path, or its arguments
	Arguments     string         `json:"arguments"` // as shown to the person asked
	ArgumentsHash string         `json:"-"`         // the approval is valid for these arguments only
	Call          string         `json:"-"`         // key of the call
	Turn          string         `json:"-"`         // that makes the call
	WorkflowID    string         `json:"-"`         // of the workflow that waits for the decision
	Channel       string         `json:"-"`         // where it is asked, with Chat and Thread; a subagent asks where its parent's turn came from
	Chat          string         `json:"-"`
	Thread        string         `json:"-"`
	Sender        string         `json:"-"` // who asked for the turn
	Status        ApprovalStatus `json:"-"`
	DecidedBy     string         `json:"-"` // CHANNEL:SENDER or [Operator]; empty unless approved or denied
	DecidedFrom   string         `json:"-"` // for people: the chat or the command line where it was decided
	DecidedIn     string         `json:"-"` // the inbound message that decided it, if one did
	CreatedAt     time.Time      `json:"-"`
	ExpiresAt     time.Time      `json:"-"`
	DecidedAt     time.Time      `json:"-"` // zero while waiting
}

// Operator stands for the operator where a decision names who made it.
const Operator = "operator"

// ApprovalStatus is the state of an approval.
type ApprovalStatus string

// The statuses of an approval.
const (
	ApprovalWaiting  ApprovalStatus = "waiting"
	ApprovalApproved ApprovalStatus = "approved"
	ApprovalDenied   ApprovalStatus = "denied"
	ApprovalExpired  ApprovalStatus = "expired"
	ApprovalDropped  ApprovalStatus = "dropped" // the turn ended, or the user wrote something else
)

// Decision is an answer to an approval.
type Decision struct {
	Approval string
	Status   ApprovalStatus
	By       string // CHANNEL:SENDER or [Operator]
	From     string // for people: the chat or the command line
	In       string // inbound message with the decision; empty from the command line
}

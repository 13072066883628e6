package domain

import "time"

// Reply is an accepted message and the state of its answer. Its JSON is part of the
// public HTTP API.
type Reply struct {
	Message string      `json:"id"` // our ID of the message
	Session string      `json:"session"`
	Status  ReplyStatus `json:"status"`
	Text    string      `json:"reply"`          // Markdown; empty until the status is final
	Turn    string      `json:"turn,omitempty"` // empty while queued
	Usage   Usage       `json:"usage,omitzero"`
	// Approvals are the questions that block the conversation, until the status is final.
	Approvals []Approval `json:"approvals,omitempty"`
}

// ReplyStatus is how far the answer to a message is.
type ReplyStatus string

// The statuses of a reply.
const (
	ReplyQueued  ReplyStatus = "queued"  // accepted, waiting for its turn
	ReplyRunning ReplyStatus = "running" // its turn is running
	ReplyDone    ReplyStatus = "done"    // answered
	ReplyFailed  ReplyStatus = "failed"  // its turn ended without an answer from the model; the text says why
)

// Ended reports whether the status is final.
func (s ReplyStatus) Ended() bool { return s == ReplyDone || s == ReplyFailed }

// BackgroundReply is a reply to a job or a subagent's report rather than to a
// person's message. Push channels deliver it; clients of other channels fetch it.
type BackgroundReply struct {
	Turn    string      `json:"turn"`
	Cause   Cause       `json:"cause"`
	Label   string      `json:"label"`  // of the job or subagent
	Status  ReplyStatus `json:"status"` // final
	Text    string      `json:"reply"`  // Markdown
	EndedAt time.Time   `json:"ended_at"`
}

// Cause is the cause of a turn that no person started.
type Cause string

// The causes of background replies.
const (
	CauseJob      Cause = "job"      // a job was due
	CauseSubagent Cause = "subagent" // a subagent reported
)

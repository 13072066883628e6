// Package protocol has what crosses Temporal: names, IDs, and the input and
// result types of workflows, activities and signals. It imports nothing of ours.
//
// The types are recorded in histories: only add fields.
package protocol

import (
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Task queues.
const (
	// AgentQueue is where sessions and the activities of a turn run.
	AgentQueue = "agent"
	// outboxPrefix comes before a channel's name in its delivery queue.
	outboxPrefix = "outbox/"
)

// OutboxQueue is the task queue of a channel's deliveries.
func OutboxQueue(channel string) string { return outboxPrefix + channel }

// Names of the signals.
const (
	MessageSignal  = "message"  // brings a [Message] to a session
	ApprovalSignal = "approval" // brings a [Decision] to a workflow that waits for it
)

// Names of the activities: the methods of the structs in package activities.
const (
	CompleteActivity = "Complete"
	CallToolActivity = "CallTool"
	EndTurnActivity  = "EndTurn"
	AnswerActivity   = "Answer"
	DeliverActivity  = "Deliver"
	ReportActivity   = "Report"

	ConsolidateActivity = "Consolidate"
)

// Names of the workflows.
const (
	SessionWorkflow  = "Session"
	SubagentWorkflow = "Subagent"

	ConsolidationWorkflow = "Consolidation"
)

// SpawnKind is the kind of the tool call that spawns a subagent: the workflow has a
// part in it.
const SpawnKind = "spawn"

// ConsolidateSignal is the name of the signal that has a consolidation look again.
const ConsolidateSignal = "consolidate"

// StatusQuery is the name of the query that returns a session's [Status].
const StatusQuery = "status"

// Search attributes, all of type Keyword, set when a workflow starts.
const (
	SearchChannel = "HoldfastChannel"
	SearchSession = "HoldfastSession"
	SearchSender  = "HoldfastSender"
)

// Types of errors that activities report as hopeless. A retry cannot help; the
// user is told the message.
const (
	ErrorRefused = "Refused" // the provider refuses: bad key, unknown model, bad request
	ErrorTooLong = "TooLong" // the conversation does not fit the model
	ErrorInvalid = "Invalid" // our own input makes no sense: a bug, or rows that were deleted
)

// PreviewLimit bounds, in bytes, each text that is put into a payload for a
// person to see in the UI. [PayloadLimit] bounds a whole payload.
const (
	PreviewLimit = 1000
	PayloadLimit = 8 << 10
)

// Message tells a session that a message was accepted. What it says is in the
// store; Preview is for the UI.
type MessageRef struct {
	ID      string         `json:"id"`
	Sender  string         `json:"sender,omitempty"`
	Command domain.Command `json:"command,omitempty"`
	Join    bool           `json:"join,omitempty"` // may join a running turn of the same sender
	Preview string         `json:"preview,omitempty"`
	Child   string         `json:"child,omitempty"` // it is the report of this subagent
	Seq     int64          `json:"seq,omitempty"`   // its place in the session's inbox
}

// NewMessageRef refers to an accepted message, without a preview.
func NewMessageRef(m domain.Inbound) MessageRef {
	return MessageRef{ID: m.ID, Sender: m.Sender, Command: m.Command, Join: !m.Queue, Child: m.Child, Seq: m.Seq}
}

// SessionInput starts a session's run, and is what continue-as-new carries.
type SessionInput struct {
	Session domain.SessionRef `json:"session"`
	Model   string            `json:"model,omitempty"` // as configured, for the UI
	State   SessionState      `json:"state,omitzero"`
	Limits  Limits            `json:"limits"`
}

// Limits bound a turn. They come from the starter's config and stay with the run.
type Limits struct {
	Steps         int `json:"steps"`                    // model calls in a turn
	SubagentSteps int `json:"subagent_steps,omitempty"` // the same, of a subagent
}

// SessionState is the control state of a session, bounded.
type SessionState struct {
	Queue  []MessageRef `json:"queue,omitempty"`  // not taken yet, in order
	Turn   *TurnState   `json:"turn,omitempty"`   // the turn to go on with, if continued in the middle of one
	Recent []string     `json:"recent,omitempty"` // message IDs seen lately, oldest first
	Turns  int          `json:"turns,omitempty"`  // turns done in this chain of runs
	// Children are the subagents whose report is to come.
	Children []Child `json:"children,omitempty"`
}

// Child is a subagent as its parent knows it.
type Child struct {
	ID    string `json:"id"` // key of the call that spawned it
	Label string `json:"label"`
}

// ConsolidateInput asks to take earlier turns into a memory.
type ConsolidateInput struct {
	Scope string `json:"scope,omitempty"` // empty: start those that need it
}

// ConsolidateResult is the outcome of a consolidation.
type ConsolidateResult struct {
	More    bool   `json:"more,omitempty"`    // there may be more turns to consolidate
	Failure string `json:"failure,omitempty"` // of the workflow: why it ended without consolidating all
}

// ReportInput asks to end a subagent and to bring its report to its parent.
type ReportInput struct {
	Session domain.SessionRef `json:"session"` // the subagent's
	ID      string            `json:"id"`      // key of the call that spawned it
	Stopped bool              `json:"stopped,omitempty"`
}

// Turn is where a turn stands between two steps.
type TurnState struct {
	ID       string   `json:"id"`
	Sender   string   `json:"sender,omitempty"`
	Joinable bool     `json:"joinable,omitempty"` // messages of the same sender may join it
	Step     int      `json:"step"`               // the next step, from 1
	Messages []string `json:"messages,omitempty"` // messages that the next step takes in
	Tokens   int      `json:"tokens,omitempty"`
	Cost     int64    `json:"cost,omitempty"`     // see [CompleteResult]
	Unpriced int      `json:"unpriced,omitempty"` // see [CompleteResult]
}

// Status is a session's answer to the status query.
type Status struct {
	Turn   string `json:"turn,omitempty"`
	Step   int    `json:"step,omitempty"`
	Doing  string `json:"doing,omitempty"` // what is running now, for a person
	Queued int    `json:"queued"`
	Tokens int    `json:"tokens"` // of the running turn
	Turns  int    `json:"turns"`
	// Cost and Unpriced are of the running turn, as in [CompleteResult].
	Cost     int64 `json:"cost,omitempty"`
	Unpriced int   `json:"unpriced,omitempty"`
	// Children are the subagents that are at work.
	Children []Child `json:"children,omitempty"`
}

// CompleteInput asks for one model call.
type CompleteInput struct {
	Session  domain.SessionRef `json:"session"`
	Turn     string            `json:"turn"`
	Step     int               `json:"step"`
	Messages []string          `json:"messages,omitempty"` // messages taken in by this step
}

// CompleteResult is what came of a model call.
type CompleteResult struct {
	Preview string       `json:"preview,omitempty"`
	Calls   []Call       `json:"calls,omitempty"`
	Final   bool         `json:"final,omitempty"`  // the turn is done
	Outbox  string       `json:"outbox,omitempty"` // what to deliver; empty for pull channels
	Model   string       `json:"model,omitempty"`
	Usage   domain.Usage `json:"usage,omitzero"` // of the turn so far
	Cost    int64        `json:"cost,omitempty"` // of the turn so far, in millionths of a US dollar, as far as known
	// Unpriced is how many model calls of the turn so far have no known price.
	Unpriced int `json:"unpriced,omitempty"`
	// Answered is set when the message had been answered by an earlier turn:
	// nothing was called. Outbox is then a reply not delivered yet, if any.
	Answered bool `json:"answered,omitempty"`
}

// Call is a tool call that the model asked for, with what the worker resolved.
type Call struct {
	Index    int           `json:"index"`
	Name     string        `json:"name"`
	Preview  string        `json:"preview,omitempty"` // the arguments, for the UI
	Kind     string        `json:"kind"`
	ReadOnly bool          `json:"read_only,omitempty"`
	Timeout  time.Duration `json:"timeout"`
}

// CallToolInput asks for one tool call to be run.
type CallToolInput struct {
	Session domain.SessionRef `json:"session"`
	Turn    string            `json:"turn"`
	Step    int               `json:"step"`
	Index   int               `json:"index"`
	// Unasked is set where an answer to the call's approval is not waited for any more,
	// since the user wrote something else.
	Withdrawn bool `json:"unasked,omitempty"`
}

// CallToolResult is what came of a tool call.
type CallToolResult struct {
	Preview string `json:"preview,omitempty"`
	Failed  bool   `json:"failed,omitempty"`
	// Approval is set where nothing was run, because a person is to be asked first.
	Approval *PendingApproval `json:"approval,omitempty"`
}

// Approval is a question whether a call may be run. When it is answered, or its time
// has run out, the call is to be made again.
type PendingApproval struct {
	ID      string        `json:"id"`
	Timeout time.Duration `json:"timeout"`           // from now on
	Channel string        `json:"channel,omitempty"` // that Outbox is to be delivered to
	Outbox  string        `json:"outbox,omitempty"`  // the question; empty for pull channels
}

// Decision tells a workflow that an approval it waits for was decided.
type ApprovalDecision struct {
	Approval string `json:"approval"`
}

// Ending says why a turn ended without the model having finished.
type Ending string

// The ways a turn ends early.
const (
	EndingFailed  Ending = "failed"  // an error that the user is told
	EndingStopped Ending = "stopped" // the user stopped it
	EndingLimit   Ending = "limit"   // it reached the limit of steps
)

// EndTurnInput asks to close a turn that the model did not finish.
type EndTurnInput struct {
	Session  domain.SessionRef `json:"session"`
	Turn     string            `json:"turn"`
	Messages []string          `json:"messages,omitempty"` // taken in by the step that did not complete
	Ending   Ending            `json:"ending"`
	Reason   string            `json:"reason,omitempty"` // what the user is told; empty for EndingStopped
	Silent   bool              `json:"silent,omitempty"` // no delivery: another answer says it
}

// EndTurnResult is what came of closing a turn.
type EndTurnResult struct {
	Outbox string `json:"outbox,omitempty"`
}

// AnswerInput asks to answer a command.
type AnswerInput struct {
	Session domain.SessionRef `json:"session"`
	Message string            `json:"message"`
	Command domain.Command    `json:"command"`
	Status  *Status           `json:"status,omitempty"`  // for CommandStatus and CommandUsage
	Stopped bool              `json:"stopped,omitempty"` // for CommandStop: there was something to stop
}

// AnswerResult is what came of answering a command.
type AnswerResult struct {
	Outbox   string `json:"outbox,omitempty"`
	Answered bool   `json:"answered,omitempty"` // it had been answered before; nothing was done
}

// DeliverInput asks for a reply to be sent.
type DeliverInput struct {
	Outbox string `json:"outbox"`
}

// DeliverResult says what became of the reply.
type DeliverResult struct {
	PlatformID string `json:"platform_id,omitempty"`
	Gone       bool   `json:"gone,omitempty"` // it cannot be delivered; it is kept in the store
}

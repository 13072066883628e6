// Package protocol defines what crosses Temporal: names, workflow IDs, and the input
// and result types of workflows, activities and signals. It imports only domain.
//
// The types are recorded in histories: after the first release, only add fields.
package protocol

import (
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Names of the signals.
const (
	MessageSignal  = "message"  // carries a [MessageRef] to a session
	ApprovalSignal = "approval" // carries an [ApprovalDecision] to the waiting workflow
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
	RefillActivity      = "Refill"
)

// Names of the workflows.
const (
	SessionWorkflow  = "Session"
	SubagentWorkflow = "Subagent"

	ConsolidationWorkflow = "Consolidation"
)

// BackgroundPriority is the priority, as Temporal counts, of subagents, jobs and
// consolidations: behind people, whose work has Temporal's default of 3.
const BackgroundPriority = 4

// SpawnKind is the kind of the tool call that spawns a subagent; the workflow starts
// it.
const SpawnKind = "spawn"

// ConsolidateSignal asks a consolidation to look for more turns.
const ConsolidateSignal = "consolidate"

// StatusQuery returns a session's [Status].
const StatusQuery = "status"

// Search attributes, all of type Keyword, set when a workflow starts.
const (
	SearchChannel = "HoldfastChannel"
	SearchSession = "HoldfastSession"
	SearchSender  = "HoldfastSender"
)

// Types of non-retryable activity errors. The user is shown the message.
const (
	ErrorRefused = "Refused" // rejected by the provider: bad key, unknown model, bad request
	ErrorTooLong = "TooLong" // the conversation does not fit the model
	ErrorInvalid = "Invalid" // invalid input: a bug, or deleted rows
)

// PreviewLimit bounds, in bytes, each text that a payload has for the UI.
// [PayloadLimit] bounds a whole payload.
const (
	PreviewLimit = 1000
	PayloadLimit = 8 << 10
)

// MessageRef announces an accepted message to its session. The text is in the store;
// Preview is for the UI.
type MessageRef struct {
	ID      string         `json:"id"`
	Sender  string         `json:"sender,omitempty"`
	Command domain.Command `json:"command,omitempty"`
	// Immediate is set if the command is answered beside a running turn, not after it.
	Immediate bool   `json:"immediate,omitempty"`
	Join      bool   `json:"join,omitempty"` // may join a running turn of the same sender
	Preview   string `json:"preview,omitempty"`
	Child     string `json:"child,omitempty"` // the subagent whose report it is
	Seq       int64  `json:"seq,omitempty"`   // its place in the session's inbox
}

// NewMessageRef refers to an accepted message, without a preview.
func NewMessageRef(m domain.Inbound) MessageRef {
	spec, _ := domain.LookupCommand(m.Command)
	return MessageRef{
		ID: m.ID, Sender: m.Sender, Command: m.Command, Immediate: spec.Immediate, Join: !m.Queue, Child: m.Child, Seq: m.Seq,
	}
}

// SessionInput starts a run of a session; continue-as-new passes it on.
type SessionInput struct {
	Session domain.SessionRef `json:"session"`
	Model   string            `json:"model,omitempty"` // as configured, for the UI
	State   SessionState      `json:"state,omitzero"`
	Limits  Limits            `json:"limits"`
}

// Limits bound a session. They come from the process that started the run, so that a run
// keeps them when the code beside it changes.
type Limits struct {
	Steps         int `json:"steps"`                    // model calls in a turn
	SubagentSteps int `json:"subagent_steps,omitempty"` // the same, of a subagent
	// Queue bounds the queue, so that what a run carries over stays under 64 KB. Further
	// messages stay in the store, and so do all that come after them, until the queue is
	// refilled from there in order.
	Queue int `json:"queue"`
	// Recent bounds the message IDs kept to drop duplicates. Older duplicates cost an
	// activity, which finds in the store that the message was answered.
	Recent int `json:"recent"`
	Joins  int `json:"joins"` // messages that join a turn in one step
	// Undelivered bounds the replies that wait to be delivered. Further turns wait for them.
	Undelivered int `json:"undelivered"`
}

// NewLimits returns limits on the model calls in a turn, and the usual others.
func NewLimits(steps, subagentSteps int) Limits {
	return Limits{Steps: steps, SubagentSteps: subagentSteps, Queue: 500, Recent: 200, Joins: 100, Undelivered: 200}
}

// SessionState is the control state of a session; its size is bounded.
type SessionState struct {
	Queue  []MessageRef `json:"queue,omitempty"`  // not consumed yet, in order
	Turn   *TurnState   `json:"turn,omitempty"`   // the turn in progress
	Recent []string     `json:"recent,omitempty"` // message IDs seen lately, oldest first
	Turns  int          `json:"turns,omitempty"`  // turns done in this chain of runs
	// Children are the subagents that have not reported.
	Children []Child `json:"children,omitempty"`
	// Seq is the sequence number of the last message that was queued.
	Seq int64 `json:"seq,omitempty"`
	// Overflow is set while messages wait in the store because the queue was full.
	Overflow *Overflow `json:"overflow,omitempty"`
	// Undelivered are the replies in the outbox that wait to be delivered, in order.
	Undelivered []string `json:"undelivered,omitempty"`
}

// Overflow is a session's record of the messages that its queue had no room for.
type Overflow struct {
	Stopped *Stopped `json:"stopped,omitempty"` // a stop that the first of them are subject to
}

// Stopped is a stopped turn that messages in the store would have joined.
type Stopped struct {
	Sender string `json:"sender,omitempty"`
	Before int64  `json:"before"` // the sequence number of the stop
}

// Covers reports whether the message is subject to the stop.
func (s Stopped) Covers(m MessageRef) bool { return m.Join && m.Sender == s.Sender && m.Seq < s.Before }

// RefillInput asks for pending messages of a session whose queue was full.
type RefillInput struct {
	Session string `json:"session"`
	After   int64  `json:"after"` // sequence number
}

// RefillResult has as many of them as fit into a payload, in order and without commands.
type RefillResult struct {
	Messages []MessageRef `json:"messages,omitempty"`
	Seq      int64        `json:"seq,omitempty"`  // the last sequence number looked at
	More     bool         `json:"more,omitempty"` // there are more
}

// Child is a subagent of a session.
type Child struct {
	ID    string `json:"id"` // key of the call that spawned it
	Label string `json:"label"`
}

// ConsolidateInput asks to consolidate earlier turns into a memory.
type ConsolidateInput struct {
	Scope string `json:"scope,omitempty"` // empty: start those that need it
}

// ConsolidateResult is the result of a consolidation.
type ConsolidateResult struct {
	More    bool   `json:"more,omitempty"`    // there may be more turns to consolidate
	Failure string `json:"failure,omitempty"` // of the workflow: why it ended without consolidating all
}

// ReportInput asks to end a subagent and to report to its parent.
type ReportInput struct {
	Session domain.SessionRef `json:"session"` // the subagent's
	ID      string            `json:"id"`      // key of the call that spawned it
	Stopped bool              `json:"stopped,omitempty"`
}

// TurnState is the state of a turn between two steps.
type TurnState struct {
	ID       string   `json:"id"`
	Sender   string   `json:"sender,omitempty"`
	Joinable bool     `json:"joinable,omitempty"` // messages of the same sender may join it
	Step     int      `json:"step"`               // the next step, from 1
	Messages []string `json:"messages,omitempty"` // messages that the next step consumes
	Calls    []Call   `json:"calls,omitempty"`    // calls of the step that have no result yet
	Tokens   int      `json:"tokens,omitempty"`
	Cost     int64    `json:"cost,omitempty"`     // see [CompleteResult]
	Unpriced int      `json:"unpriced,omitempty"` // see [CompleteResult]
}

// Status answers [StatusQuery].
type Status struct {
	Turn   string `json:"turn,omitempty"`
	Step   int    `json:"step,omitempty"`
	Doing  string `json:"doing,omitempty"` // current activity, for people
	Queued int    `json:"queued"`
	Tokens int    `json:"tokens"` // of the running turn
	Turns  int    `json:"turns"`
	// Cost and Unpriced are of the running turn, as in [CompleteResult].
	Cost     int64 `json:"cost,omitempty"`
	Unpriced int   `json:"unpriced,omitempty"`
	// Children are the running subagents.
	Children []Child `json:"children,omitempty"`
}

// CompleteInput asks for a model call.
type CompleteInput struct {
	Session  domain.SessionRef `json:"session"`
	Turn     string            `json:"turn"`
	Step     int               `json:"step"`
	Messages []string          `json:"messages,omitempty"` // messages that this step consumes
	// Behind is set if earlier replies of the session wait to be delivered, so that this
	// one must wait, too.
	Behind bool `json:"behind,omitempty"`
}

// CompleteResult is the result of a model call.
type CompleteResult struct {
	Preview string       `json:"preview,omitempty"`
	Calls   []Call       `json:"calls,omitempty"`
	Final   bool         `json:"final,omitempty"`  // the turn is done
	Outbox  string       `json:"outbox,omitempty"` // what to deliver; empty for pull channels
	Model   string       `json:"model,omitempty"`
	Usage   domain.Usage `json:"usage,omitzero"` // of the turn so far
	Cost    int64        `json:"cost,omitempty"` // of the turn so far, in millionths of a US dollar, as far as known
	// Unpriced counts the model calls of the turn so far without a known price.
	Unpriced int `json:"unpriced,omitempty"`
	// Answered is set if an earlier turn answered the message: no call was made. Outbox
	// is then its undelivered reply, if any.
	Answered bool `json:"answered,omitempty"`
}

// Call is a tool call of the model, with its options.
type Call struct {
	Index    int           `json:"index"`
	Name     string        `json:"name"`
	Preview  string        `json:"preview,omitempty"` // the arguments, for the UI
	Kind     string        `json:"kind"`
	ReadOnly bool          `json:"read_only,omitempty"`
	Timeout  time.Duration `json:"timeout"`
}

// CallToolInput asks to run a tool call.
type CallToolInput struct {
	Session domain.SessionRef `json:"session"`
	Turn    string            `json:"turn"`
	Step    int               `json:"step"`
	Index   int               `json:"index"`
	// Withdrawn is set if the call's approval is withdrawn because the user wrote
	// something else.
	Withdrawn bool `json:"withdrawn,omitempty"`
	// Tried are the places that the call was sent to. The last is where it is made, unless
	// that does not answer.
	Tried []string `json:"tried,omitempty"`
}

// Key returns the key of the call, see [domain.CallKey].
func (in CallToolInput) Key() string { return domain.CallKey(in.Turn, in.Step, in.Index) }

// CallToolResult is the result of a tool call.
type CallToolResult struct {
	Preview string `json:"preview,omitempty"`
	Failed  bool   `json:"failed,omitempty"`
	// Place is set if the call was not run because it belongs there.
	Place string `json:"place,omitempty"`
	// Approval is set if the call was not run because it needs approval.
	Approval *PendingApproval `json:"approval,omitempty"`
}

// PendingApproval is an approval that a tool call needs. The call is repeated once it
// is decided or has expired.
type PendingApproval struct {
	ID      string        `json:"id"`
	Timeout time.Duration `json:"timeout"`           // from now
	Channel string        `json:"channel,omitempty"` // of Outbox
	Outbox  string        `json:"outbox,omitempty"`  // the message that asks; empty for pull channels
}

// ApprovalDecision tells a workflow that an approval was decided. The workflow reads only
// Approval; the rest is for people who read its history.
type ApprovalDecision struct {
	Approval string                `json:"approval"`
	Status   domain.ApprovalStatus `json:"status,omitempty"`
	By       string                `json:"by,omitempty"`
	From     string                `json:"from,omitempty"`
}

// NewApprovalDecision returns what the workflow is told that waits for an approval.
func NewApprovalDecision(a domain.Approval) ApprovalDecision {
	return ApprovalDecision{Approval: a.ID, Status: a.Status, By: a.DecidedBy, From: a.DecidedFrom}
}

// Ending is why a turn ended before the model finished.
type Ending string

// The reasons why a turn ends early.
const (
	EndingFailed  Ending = "failed"  // an error, shown to the user
	EndingStopped Ending = "stopped" // the user stopped it
	EndingLimit   Ending = "limit"   // it reached the limit of steps
)

// EndTurnInput asks to end a turn that the model did not finish.
type EndTurnInput struct {
	Session  domain.SessionRef `json:"session"`
	Turn     string            `json:"turn"`
	Messages []string          `json:"messages,omitempty"` // of the step that did not complete
	Ending   Ending            `json:"ending"`
	Reason   string            `json:"reason,omitempty"` // shown to the user; empty for EndingStopped
	Silent   bool              `json:"silent,omitempty"` // not delivered: another answer covers it
	Tried    []string          `json:"tried,omitempty"`  // as in [CallToolInput]
	Behind   bool              `json:"behind,omitempty"` // see [CompleteInput]
}

// EndTurnResult is the result of ending a turn.
type EndTurnResult struct {
	Place  string `json:"place,omitempty"` // not ended, because commands of the turn run there
	Outbox string `json:"outbox,omitempty"`
}

// AnswerInput asks to answer a command.
type AnswerInput struct {
	Session domain.SessionRef `json:"session"`
	Message string            `json:"message"`
	Command domain.Command    `json:"command"`
	Status  *Status           `json:"status,omitempty"`  // for CommandStatus and CommandUsage
	Stopped bool              `json:"stopped,omitempty"` // for CommandStop: something was stopped
	// Commands lists, for CommandStatus, the commands that run at the places in Tried.
	Commands string   `json:"commands,omitempty"`
	Tried    []string `json:"tried,omitempty"`  // as in [CallToolInput]
	Silent   bool     `json:"silent,omitempty"` // one of them does not answer
	Behind   bool     `json:"behind,omitempty"` // see [CompleteInput]
}

// AnswerResult is the result of answering a command.
type AnswerResult struct {
	// Place is set if nothing was answered because commands of the session run there.
	// Stopped and Commands are then for the input of the next attempt.
	Place    string `json:"place,omitempty"`
	Stopped  bool   `json:"stopped,omitempty"`
	Commands string `json:"commands,omitempty"`
	Outbox   string `json:"outbox,omitempty"`
	Answered bool   `json:"answered,omitempty"` // it was answered before; nothing was done
}

// DeliverInput asks to deliver an outbound message.
type DeliverInput struct {
	Outbox string `json:"outbox"`
}

// DeliverResult is the result of a delivery.
type DeliverResult struct {
	PlatformID string `json:"platform_id,omitempty"`
	Gone       bool   `json:"gone,omitempty"` // undeliverable, but kept in the store
	Kept       bool   `json:"kept,omitempty"` // to be sent before the reply to the chat's next message
}

// Package event carries what a person may watch while a message is answered. It
// is for show: an event may be lost, and nothing that counts depends on one.
package event

import "context"

// Kind is the kind of an [Event].
type Kind string

// The kinds of events.
const (
	Reset        Kind = "reset"         // the model call is repeated: discard this step's text
	Retry        Kind = "retry"         // a model call failed and will be repeated; Text says why
	Text         Kind = "text"          // a piece of the reply
	ToolStart    Kind = "tool_start"    // a tool call began
	ToolProgress Kind = "tool_progress" // a tool call is at work; Text says how far
	ToolDone     Kind = "tool_done"     // a tool call has its result
	Approval     Kind = "approval"      // a person is asked whether a tool call may be run; Text has its arguments
	TurnJoined   Kind = "turn_joined"   // the message joined a turn that was running
	Done         Kind = "done"          // the message's status is final
)

// Event is something that happened while a message was being answered.
type Event struct {
	Kind Kind   `json:"kind,omitempty"`
	Text string `json:"text,omitempty"` // text delta, tool preview, or tool result preview, by kind
	Tool string `json:"tool,omitempty"` // tool name, for the tool events
	Step int    `json:"step,omitempty"`
	ID   string `json:"id,omitempty"` // by which approvals name the call, of approval and tool_start
}

// Bus brings events to those who watch a topic. It is safe for concurrent use.
type Bus interface {
	// Publish hands e to all who are subscribed to the topic, in the order of the
	// calls. It never waits for a subscriber or the network.
	Publish(ctx context.Context, topic string, e Event)
	// Subscribe returns the topic's events from now on. A subscriber that does not
	// keep up loses events, but not [Done]. The caller calls cancel when it has
	// seen enough, which closes events; to call it again does nothing. A bus that
	// is closed closes them too.
	Subscribe(topic string) (events <-chan Event, cancel func())
}

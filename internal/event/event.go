// Package event carries progress events of messages to watchers. Delivery is best effort:
// correctness must not depend on an event.
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
	ToolProgress Kind = "tool_progress" // a tool call reports progress in Text
	ToolDone     Kind = "tool_done"     // a tool call returned
	Approval     Kind = "approval"      // a tool call waits for approval; Text has its arguments
	TurnJoined   Kind = "turn_joined"   // the message joined a running turn
	Done         Kind = "done"          // the message's status is final
	// Disconnected is not published: a client makes it when the server stops answering.
	Disconnected Kind = "disconnected"
)

// Event is something that happened while a message was being answered.
type Event struct {
	Kind Kind   `json:"kind,omitempty"`
	Text string `json:"text,omitempty"` // text delta, tool preview, or tool result preview, by kind
	Tool string `json:"tool,omitempty"` // tool name, for the tool events
	Step int    `json:"step,omitempty"`
	ID   string `json:"id,omitempty"` // by which approvals name the call, of approval and tool_start
}

// Bus publishes events to the subscribers of a topic. It is safe for concurrent use.
type Bus interface {
	// Publish sends e to the topic's subscribers, in the order of the calls. It does not
	// block on subscribers or the network.
	Publish(ctx context.Context, topic string, e Event)
	// Subscribe returns the topic's events from now on. A slow subscriber loses events, but
	// not [Done]. The caller must call cancel, which closes events and may be repeated.
	// Closing the bus closes events too.
	Subscribe(topic string) (events <-chan Event, cancel func())
}

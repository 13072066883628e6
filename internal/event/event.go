// Package event carries what a person may watch while a turn runs. Nothing
// depends on it: an event that gets lost is a piece of text seen later.
package event

import "context"

// Kind says what an [Event] is.
type Kind string

// The kinds of events.
const (
	Reset        Kind = "reset"         // the step's model call is made anew: forget its text
	Text         Kind = "text"          // a piece of the reply
	ToolStart    Kind = "tool_start"    // a tool call began; Text has its arguments
	ToolProgress Kind = "tool_progress" // a tool call is at work; Text says how far
	ToolDone     Kind = "tool_done"     // a tool call has its result; Text has its start
	Joined       Kind = "turn_joined"   // the topic's message joined the turn that Text names
	Done         Kind = "done"          // the turn has ended
)

// Event is something that happened in a turn.
type Event struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`
	Tool string `json:"tool,omitempty"`
	Step int    `json:"step,omitempty"`
}

// Bus brings events from those who work on a turn to those who watch it. A
// topic is a message's ID, which is also its turn's.
type Bus interface {
	// Publish tells the topic's subscribers. It never blocks for long and has no
	// error: what cannot be delivered is dropped, [Done] last of all.
	Publish(ctx context.Context, topic string, e Event)
	// Subscribe returns the topic's events from now on, until cancel is called,
	// which may be done more than once.
	Subscribe(topic string) (events <-chan Event, cancel func())
}

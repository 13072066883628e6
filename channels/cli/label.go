package cli

import (
	"strings"

	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	thinking = "thinking"
	writing  = "writing"
)

// eventLabel says what the agent is doing after an event; empty if that has not
// changed.
func eventLabel(e event.Event) string {
	switch e.Kind {
	case event.Text:
		return writing
	case event.ToolStart, event.ToolProgress:
		return callLabel(e)
	case event.Approval:
		return "waiting for approval of " + callLabel(e)
	case event.Retry:
		return e.Text
	case event.Reset, event.ToolDone:
		return thinking
	case event.TurnJoined, event.Done, event.Disconnected:
	}
	return ""
}

// callLabel names the call of an event.
func callLabel(e event.Event) string { return strings.TrimSuffix(e.Tool+": "+e.Text, ": ") }

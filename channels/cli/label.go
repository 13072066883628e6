package cli

import (
	"strings"

	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	thinking = "thinking"
	writing  = "writing"
)

// eventLabel is what the agent does after an event; empty if that says nothing new.
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
	case event.TurnJoined, event.Done:
	}
	return ""
}

// callLabel names the call that an event is about.
func callLabel(e event.Event) string { return strings.TrimSuffix(e.Tool+": "+e.Text, ": ") }

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
	case event.ToolStart:
		return strings.TrimSuffix(e.Tool+": "+e.Text, ": ")
	case event.Retry:
		return e.Text
	case event.ToolProgress:
		return strings.TrimSuffix(e.Tool+": "+e.Text, ": ")
	case event.Reset, event.ToolDone:
		return thinking
	case event.TurnJoined, event.Done:
	}
	return ""
}

package cli

import (
	"encoding/json"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	thinking = "thinking"
	writing  = "writing"
)

// telling are the arguments that say most about a tool call, the best first.
var telling = [...]string{"command", "path", "file", "url", "query", "pattern", "name"}

// eventLabel is what the agent does after an event; empty if that says nothing new.
func eventLabel(e event.Event) string {
	switch e.Kind {
	case event.Text:
		return writing
	case event.ToolStart:
		return strings.TrimSuffix(e.Tool+": "+argument(e.Text), ": ")
	case event.ToolProgress:
		return strings.TrimSuffix(e.Tool+": "+e.Text, ": ")
	case event.Reset, event.ToolDone:
		return thinking
	case event.TurnJoined, event.Done:
	}
	return ""
}

// argument is the most telling of a tool call's arguments, else all of them.
func argument(arguments string) string {
	var values map[string]any
	if json.Unmarshal([]byte(arguments), &values) == nil {
		for _, name := range telling {
			if value, ok := values[name].(string); ok && value != "" {
				return value
			}
		}
		if len(values) == 0 {
			return ""
		}
	}
	return arguments
}

package cli

import (
	"encoding/json"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
)

const (
	thinking = "thinking"
	writing  = "writing"
)

// telling are the arguments that say most about a tool call, the best first.
var telling = [...]string{"command", "path", "file", "url", "query", "pattern", "name"}

// eventLabel is what the agent does after an event; empty if that says nothing new.
func eventLabel(e channels.Event) string {
	switch e.Kind {
	case channels.EventText:
		return writing
	case channels.EventToolStart:
		return strings.TrimSuffix(e.Tool+": "+argument(e.Text), ": ")
	case channels.EventToolProgress:
		return strings.TrimSuffix(e.Tool+": "+e.Text, ": ")
	case channels.EventReset, channels.EventToolDone:
		return thinking
	case channels.EventTurnJoined, channels.EventDone:
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

package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"

	"github.com/google/jsonschema-go/jsonschema"
)

// schema describes a tool's arguments.
type schema struct {
	parameters json.RawMessage
	resolved   *jsonschema.Resolved // nil if only the server can check arguments
	main       string               // the first required argument
}

// newSchema returns a server's schema with the fields that providers require. If it
// does not describe an object, it is replaced by one that accepts any object:
// providers would refuse all tools because of it, and the server checks arguments
// anyway.
func newSchema(given any) (s schema, usable bool) {
	object, _ := given.(map[string]any)
	object = maps.Clone(object)
	if object == nil {
		object = map[string]any{}
	}
	for key, value := range map[string]any{"type": "object", "properties": map[string]any{}} {
		if object[key] == nil {
			object[key] = value
		}
	}
	// Decoded from JSON, so it marshals.
	s.parameters, _ = json.Marshal(object)
	var parsed jsonschema.Schema
	if err := json.Unmarshal(s.parameters, &parsed); err != nil || parsed.Type != "object" {
		s, _ = newSchema(nil)
		return s, false
	}
	if len(parsed.Required) > 0 {
		s.main = parsed.Required[0]
	}
	// A schema that cannot be resolved here, such as one with an external reference,
	// may still be useful to the model and the server.
	s.resolved, _ = parsed.Resolve(nil)
	return s, given != nil
}

// check validates a call's arguments and returns them as they are sent.
func (s schema) check(arguments json.RawMessage) (json.RawMessage, error) {
	if given := bytes.TrimSpace(arguments); len(given) == 0 || string(given) == "null" {
		arguments = json.RawMessage("{}")
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return nil, err
	}
	if _, ok := value.(map[string]any); !ok {
		return nil, errors.New("not a JSON object")
	}
	if s.resolved == nil {
		return arguments, nil
	}
	return arguments, s.resolved.Validate(value)
}

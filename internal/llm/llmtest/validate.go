package llmtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest/wire"
)

var (
	toolName  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	imageData = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$`)
)

// Validate returns what a strict provider would reject in a request. Each tool call
// must be followed by exactly one result, in the order of the calls, without other
// results; no content may be empty; system messages come first; assistant messages
// never follow each other; and the last message is from a user or a tool.
func Validate(req wire.Request) error {
	if req.Model == "" {
		return errors.New("no model")
	}
	if err := validateTools(req.Tools); err != nil {
		return err
	}
	var open []openai.ToolCall // calls of the last answer without a result
	last := ""
	for i, m := range req.Messages {
		if len(open) > 0 && m.Role != "tool" {
			return fmt.Errorf("message %d (%s): call %s has no result", i, m.Role, open[0].ID)
		}
		if err := validateContent(m); err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
		var err error
		switch m.Role {
		case "system":
			if last != "" && last != "system" {
				err = fmt.Errorf("after a message of role %s", last)
			}
		case "user":
		case "assistant":
			if last == "assistant" {
				err = errors.New("two answers in a row")
			} else {
				open, err = validateCalls(m.ToolCalls)
			}
		case "tool":
			open, err = answerCall(open, m)
		default:
			err = errors.New("unknown role")
		}
		if err != nil {
			return fmt.Errorf("message %d (%s): %w", i, m.Role, err)
		}
		last = m.Role
	}
	switch {
	case len(open) > 0:
		return fmt.Errorf("call %s has no result", open[0].ID)
	case last != "user" && last != "tool":
		return fmt.Errorf("the last message has the role %q", last)
	}
	return nil
}

func validateContent(m wire.Message) error {
	switch {
	case !m.Content.Present:
		return errors.New("no content key")
	case len(m.Content.Images) > 0:
		return validateImages(m)
	case m.Content.Null && m.Role == "assistant" && len(m.ToolCalls) > 0:
		return nil
	case strings.TrimSpace(m.Content.Text) == "":
		return errors.New("empty content")
	}
	return nil
}

func validateImages(m wire.Message) error {
	if m.Role != "user" {
		return errors.New("only a user's message has images")
	}
	for _, url := range m.Content.Images {
		if !strings.HasPrefix(url, "https://") && !imageData.MatchString(url) {
			return fmt.Errorf("no image at %.40s", url)
		}
	}
	return nil
}

func validateCalls(calls []openai.ToolCall) ([]openai.ToolCall, error) {
	seen := map[string]bool{}
	for _, call := range calls {
		var object map[string]json.RawMessage
		switch {
		case call.ID == "":
			return nil, errors.New("a call without an ID")
		case seen[call.ID]:
			return nil, fmt.Errorf("call %s is there twice", call.ID)
		case call.Type != "function":
			return nil, fmt.Errorf("call %s has the type %q", call.ID, call.Type)
		case !toolName.MatchString(call.Function.Name):
			return nil, fmt.Errorf("call %s has the bad name %q", call.ID, call.Function.Name)
		case json.Unmarshal([]byte(call.Function.Arguments), &object) != nil || object == nil:
			return nil, fmt.Errorf("call %s has arguments that are no JSON object", call.ID)
		}
		seen[call.ID] = true
	}
	return calls, nil
}

// answerCall removes the call that m answers from open.
func answerCall(open []openai.ToolCall, m wire.Message) ([]openai.ToolCall, error) {
	switch {
	case len(open) == 0:
		return nil, fmt.Errorf("result %s is of no call before it", m.ToolCallID)
	case open[0].ID != m.ToolCallID:
		return nil, fmt.Errorf("result %s where that of call %s is due", m.ToolCallID, open[0].ID)
	case m.Name != "" && m.Name != open[0].Function.Name:
		return nil, fmt.Errorf("result %s names the tool %s, the call %s", m.ToolCallID, m.Name, open[0].Function.Name)
	}
	return open[1:], nil
}

func validateTools(tools []wire.Tool) error {
	seen := map[string]bool{}
	for _, tool := range tools {
		name := tool.Function.Name
		var schema struct {
			Type string `json:"type"`
		}
		switch {
		case tool.Type != "function":
			return fmt.Errorf("tool %q has the type %q", name, tool.Type)
		case !toolName.MatchString(name):
			return fmt.Errorf("tool %q has a bad name", name)
		case seen[name]:
			return fmt.Errorf("tool %s is there twice", name)
		case json.Unmarshal(tool.Function.Parameters, &schema) != nil || schema.Type != "object":
			return fmt.Errorf("tool %s: the parameters are no schema of an object", name)
		}
		seen[name] = true
	}
	return nil
}

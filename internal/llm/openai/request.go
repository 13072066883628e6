package openai

import (
	"encoding/json"
	"math"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/llm"
)

// placeholder stands for empty content, which many providers refuse.
const placeholder = "(empty)"

// request says req in the library's types, and notes in x what they cannot say.
func (c *Client) request(req llm.Request, x *exchange) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{
		Model:    req.Model,
		Messages: make([]openai.ChatCompletionMessage, len(req.Messages)),
	}
	for i, m := range req.Messages {
		out.Messages[i] = c.message(m)
		x.addContent = x.addContent || out.Messages[i].Content == ""
	}
	for _, spec := range req.Tools {
		out.Tools = append(out.Tools, toolOf(spec))
	}
	if !c.opts.NoStream {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}

	override := llm.OverrideFor(req.Model, c.opts.Overrides)
	out.ReasoningEffort = override.ReasoningEffort
	if override.MaxCompletionTokens {
		out.MaxCompletionTokens = req.MaxTokens
	} else {
		out.MaxTokens = req.MaxTokens //nolint:staticcheck // deprecated by OpenAI, the only one that most others know
	}
	switch {
	case override.NoTemperature:
	case override.Temperature != 0:
		out.Temperature = float32(override.Temperature)
	default:
		// The library leaves out a zero, which providers take for 1.
		out.Temperature = max(float32(req.Temperature), math.SmallestNonzeroFloat32)
	}
	return out
}

func (c *Client) message(m llm.Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{
		Role:       string(m.Role),
		Content:    m.Content,
		ToolCallID: m.ToolCallID,
		Name:       m.Name,
	}
	if c.opts.SendReasoning {
		out.ReasoningContent = m.Reasoning
	}
	for _, call := range m.ToolCalls {
		out.ToolCalls = append(out.ToolCalls, openai.ToolCall{
			ID:       call.ID,
			Type:     openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: repairArguments(call.Arguments)},
		})
	}
	if strings.TrimSpace(m.Content) == "" {
		out.Content = placeholder
		if len(m.ToolCalls) > 0 {
			out.Content = ""
		}
	}
	return out
}

func toolOf(spec llm.ToolSpec) openai.Tool {
	parameters := spec.Parameters
	if len(parameters) == 0 {
		parameters = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return openai.Tool{
		Type: openai.ToolTypeFunction,
		Function: &openai.FunctionDefinition{
			Name:        spec.Name,
			Description: spec.Description,
			Parameters:  parameters,
		},
	}
}

package openai

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"math"
	"net/http"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

const (
	// placeholder stands for empty content, which many providers refuse.
	placeholder = "(empty)"
	// noReasoning stands for reasoning that there was none of, where it must be
	// given: Moonshot takes an empty text for a missing one.
	noReasoning = " "
)

// request says req in the library's types, and notes in x what they cannot say.
func (c *Client) request(req llm.Request, x *exchange) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{
		Model:    req.Model,
		Messages: make([]openai.ChatCompletionMessage, len(req.Messages)),
	}
	callsOnly := false
	for i, m := range req.Messages {
		out.Messages[i] = c.message(m)
		x.images = x.images || len(out.Messages[i].MultiContent) > 0
		callsOnly = callsOnly || len(out.Messages[i].ToolCalls) > 0 && out.Messages[i].Content == ""
	}
	if callsOnly {
		x.edits.nullContent()
	}
	for _, spec := range req.Tools {
		out.Tools = append(out.Tools, toolOf(spec))
	}
	if c.opts.Quirks.PromptCaching && strings.Contains(strings.ToLower(req.Model), "claude") {
		markForCaching(&out, x)
	}
	if c.opts.Quirks.CallSignatures {
		signCalls(req, x)
	}
	if !c.opts.NoStream {
		out.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	c.tune(req, &out)
	return out
}

// tune sets the limit and the temperature as the model takes them.
func (c *Client) tune(req llm.Request, out *openai.ChatCompletionRequest) {
	override := llm.OverrideFor(req.Model, c.opts.Quirks.Models)
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
}

// message says m with the fields of its role, and no others.
func (c *Client) message(m llm.Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content}
	switch m.Role {
	case domain.RoleSystem:
	case domain.RoleTool:
		out.ToolCallID, out.Name = c.callID(m.ToolCallID), m.Name
	case domain.RoleUser:
		if len(m.Images) > 0 {
			out.Content, out.MultiContent = "", parts(m)
			return out
		}
	case domain.RoleAssistant:
		out.ToolCalls = c.toolCalls(m.ToolCalls)
		c.addReasoning(&out, m.Reasoning)
	}
	if strings.TrimSpace(out.Content) == "" {
		out.Content = placeholder
		if len(out.ToolCalls) > 0 {
			out.Content = ""
		}
	}
	return out
}

func (c *Client) toolCalls(calls []domain.ToolCall) []openai.ToolCall {
	var out []openai.ToolCall
	for _, call := range calls {
		out = append(out, openai.ToolCall{
			ID:       c.callID(call.ID),
			Type:     openai.ToolTypeFunction,
			Function: openai.FunctionCall{Name: call.Name, Arguments: repairArguments(call.Arguments)},
		})
	}
	return out
}

// addReasoning gives the model's reasoning back in the way the provider wants it.
func (c *Client) addReasoning(out *openai.ChatCompletionMessage, reasoning string) {
	switch c.opts.Quirks.Reasoning {
	case llm.ReasoningDropped:
	case llm.ReasoningSent:
		out.ReasoningContent = reasoning
	case llm.ReasoningRequired:
		out.ReasoningContent = cmp.Or(reasoning, noReasoning)
	case llm.ReasoningTagged:
		if reasoning != "" {
			out.Content = "<think>\n" + reasoning + "\n</think>\n\n" + out.Content
		}
	}
}

// parts are a user's message with images: these first, then the text.
func parts(m llm.Message) []openai.ChatMessagePart {
	var out []openai.ChatMessagePart
	for _, image := range m.Images {
		kind := cmp.Or(image.MIME, http.DetectContentType(image.Data))
		out = append(out, openai.ChatMessagePart{
			Type:     openai.ChatMessagePartTypeImageURL,
			ImageURL: &openai.ChatMessageImageURL{URL: "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(image.Data)},
		})
	}
	if strings.TrimSpace(m.Content) != "" {
		out = append(out, openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: m.Content})
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

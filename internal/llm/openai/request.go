package openai

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"regexp"
	"strings"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

const (
	// placeholder replaces empty content, which many providers reject.
	placeholder = "(empty)"
	// noReasoning replaces missing reasoning where it is required: Moonshot treats
	// an empty string as missing.
	noReasoning = " "
	// unsigned replaces a call's signature, which is not stored. Google documents it
	// for calls made by another model.
	unsigned = "skip_thought_signature_validator"
)

// ephemeral marks what is the same in every call of a session for Anthropic's
// prompt cache.
var ephemeral = map[string]string{"type": "ephemeral"}

// request converts req to go-openai's types, and puts what they lack into x.
func (c *Client) request(req llm.Request, x *exchange) openai.ChatCompletionRequest {
	out := openai.ChatCompletionRequest{
		Model:         req.Model,
		Messages:      make([]openai.ChatCompletionMessage, len(req.Messages)),
		StreamOptions: &openai.StreamOptions{IncludeUsage: true},
	}
	x.extra = map[int]fields{}
	for i, m := range req.Messages {
		out.Messages[i] = c.message(m)
		x.images = x.images || len(out.Messages[i].MultiContent) > 0
		if extra := c.extraFields(req.Model, out.Messages[i]); len(extra) > 0 {
			x.extra[i] = extra
		}
	}
	for _, spec := range req.Tools {
		out.Tools = append(out.Tools, toolOf(spec))
	}
	if n := len(out.Tools); n > 0 && c.cachesPrompts(req.Model) {
		out.Tools[n-1].Parameters = map[string]any{"cache_control": ephemeral}
	}
	c.tune(req, &out)
	return out
}

// tune sets the token limit and the temperature in the form the model accepts.
func (c *Client) tune(req llm.Request, out *openai.ChatCompletionRequest) {
	override := llm.OverrideFor(req.Model, c.opts.Quirks.Models)
	out.ReasoningEffort = override.ReasoningEffort
	if override.MaxCompletionTokens {
		out.MaxCompletionTokens = req.MaxTokens
	} else {
		out.MaxTokens = req.MaxTokens //nolint:staticcheck // deprecated by OpenAI; most other providers know only this one
	}
	switch {
	case override.NoTemperature:
	case override.Temperature != 0:
		out.Temperature = float32(override.Temperature)
	default:
		// The library omits a zero, which providers take for 1.
		out.Temperature = max(float32(req.Temperature), math.SmallestNonzeroFloat32)
	}
}

// message converts m with the fields of its role only.
func (c *Client) message(m domain.Message) openai.ChatCompletionMessage {
	out := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content}
	switch m.Role {
	case domain.RoleSystem:
	case domain.RoleTool:
		out.ToolCallID, out.Name = c.callID(m.CallID), m.Name
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

// shortID matches the tool call IDs that Mistral accepts.
var shortID = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// callID returns id in the form the provider accepts, the same for the same id.
func (c *Client) callID(id string) string {
	if !c.opts.Quirks.ShortCallIDs || id == "" || shortID.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:9]
}

// addReasoning returns the model's reasoning in the form that the provider expects.
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

// extraFields returns the fields of a message that go-openai's types cannot
// express: null as content, cache marks, and signatures of tool calls.
func (c *Client) extraFields(model string, m openai.ChatCompletionMessage) fields {
	extra := fields{}
	if m.Role == openai.ChatMessageRoleSystem && c.cachesPrompts(model) {
		extra.set("content", []any{struct {
			openai.ChatMessagePart
			CacheControl any `json:"cache_control"`
		}{openai.ChatMessagePart{Type: openai.ChatMessagePartTypeText, Text: m.Content}, ephemeral}})
	}
	if len(m.ToolCalls) == 0 {
		return extra
	}
	if m.Content == "" {
		extra.set("content", nil)
	}
	if c.signsCalls(model) {
		first := struct {
			openai.ToolCall
			ExtraContent any `json:"extra_content"`
		}{m.ToolCalls[0], map[string]any{"google": map[string]string{"thought_signature": unsigned}}}
		calls := []any{first}
		for _, call := range m.ToolCalls[1:] {
			calls = append(calls, call)
		}
		extra.set("tool_calls", calls)
	}
	return extra
}

// cachesPrompts reports whether the provider accepts cache marks for model.
func (c *Client) cachesPrompts(model string) bool {
	return c.opts.Quirks.PromptCaching && strings.Contains(strings.ToLower(model), "claude")
}

// signsCalls reports whether the first tool call of a message needs a signature:
// models from Gemini 3 on reject a message without one, older models do not know it.
func (c *Client) signsCalls(model string) bool {
	return c.opts.Quirks.CallSignatures && !strings.HasPrefix(model, "gemini-1") && !strings.HasPrefix(model, "gemini-2")
}

// parts returns a user's message with images: the images first, then the text.
func parts(m domain.Message) []openai.ChatMessagePart {
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
		Type:     openai.ToolTypeFunction,
		Function: &openai.FunctionDefinition{Name: spec.Name, Description: spec.Description, Parameters: parameters},
	}
}

// Package llm has the types of a model call and the one-method interface that a
// provider implements. A call is one attempt: retrying is the engine's business.
package llm

import (
	"context"
	"encoding/json"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Message is one message of a conversation as a model sees it.
type Message struct {
	Role       domain.Role       `json:"role"`
	Content    string            `json:"content"`
	Images     []Image           `json:"images,omitempty"`       // user only; they come before the text
	ToolCalls  []domain.ToolCall `json:"tool_calls,omitempty"`   // assistant only
	ToolCallID string            `json:"tool_call_id,omitempty"` // tool only: which call this answers
	Name       string            `json:"name,omitempty"`         // tool only: the tool's name
	Reasoning  string            `json:"reasoning,omitempty"`    // assistant only: kept for providers that want it back
}

// Image is a picture that a user attached.
type Image struct {
	MIME string `json:"mime"` // image/png, image/jpeg, image/gif or image/webp
	Data []byte `json:"data"`
}

// ToolSpec is what a model is told of a tool.
type ToolSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema of the arguments, an object
}

// Request is one model call.
type Request struct {
	Model       string // as the provider names it, without our "provider/" prefix
	Messages    []Message
	Tools       []ToolSpec
	MaxTokens   int
	Temperature float64
}

// Response is a model's completion.
type Response struct {
	Content      string            // what the user may see: think tags are already stripped
	Reasoning    string            // thinking, from a field of its own or from think tags
	ToolCalls    []domain.ToolCall // arguments are valid JSON objects: broken ones were repaired or, if that failed, wrapped as {"_raw": "…"}
	FinishReason string            // "stop", "tool_calls", "length", …; "stop" when the provider said nothing
	Usage        domain.Usage
	CachedTokens int    // of Usage.PromptTokens, those that the provider read from its cache; 0 when it does not say
	Model        string // the model that answered, as the provider names it
	Provider     string // whose model answered, as configured; empty where there is only one provider
	Asked        string // the model that Provider was asked for; empty where there is only one provider
}

// Delta is a piece of a completion while it arrives.
type Delta struct {
	Text      string // visible text, think tags stripped
	Reasoning string

	// Reset says that all pieces of this call so far are void: the model failed
	// in the middle, and another starts anew. Text and Reasoning are then empty.
	Reset bool
}

// Provider serves models.
type Provider interface {
	// Complete makes one attempt at one model call. It calls on, if not nil, for
	// each piece that arrives, from one goroutine, before it returns. A failed
	// call is a [remote.Error] where the service was reached or tried; a call cut
	// by ctx returns an error that wraps ctx's cause. Safe for concurrent use.
	//
	// [remote.Error]: https://pkg.go.dev/github.com/holdfast-ai/holdfast/internal/remote#Error
	Complete(ctx context.Context, req Request, on func(Delta)) (Response, error)
}

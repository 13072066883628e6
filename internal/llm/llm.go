// Package llm defines a model call and the one-method interface that a provider
// implements. A call is one attempt; Temporal retries it.
package llm

import (
	"context"
	"encoding/json"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of the arguments, an object
}

// Request is one model call.
type Request struct {
	Model       string           // the provider's name for it, without the "provider/" prefix
	Messages    []domain.Message // as package prompt writes them: of each, Role, Content, Images, ToolCalls, CallID, Name and Reasoning are sent
	Tools       []ToolSpec
	MaxTokens   int
	Temperature float64
}

// Response is a model's completion.
type Response struct {
	Content      string            // visible text, without think tags
	Reasoning    string            // thinking, from its own field or from think tags
	ToolCalls    []domain.ToolCall // arguments are JSON objects; broken ones are repaired or wrapped as {"_raw": "…"}
	FinishReason string            // "stop", "tool_calls", "length", …; "stop" if the provider gives none
	Usage        domain.Usage
	CachedTokens int    // how many of Usage.PromptTokens the provider read from its cache
	Model        string // the model that answered, as the provider reports it
	Provider     string // the configured provider that answered; empty without fallbacks
	Asked        string // the model requested from Provider; empty without fallbacks
}

// Delta is a piece of a streamed completion.
type Delta struct {
	Text      string // visible text, without think tags
	Reasoning string

	// Reset discards all pieces of this call so far: the model failed and another
	// starts over. Text and Reasoning are then empty.
	Reset bool
}

// Provider calls models.
type Provider interface {
	// Complete makes one attempt at one model call. It calls on, unless nil, for
	// each piece that arrives, from one goroutine, before it returns. If the service
	// fails or cannot be reached, the error is a [remote.Error]; if ctx ends, it
	// wraps ctx's cause. Safe for concurrent use.
	//
	// [remote.Error]: https://pkg.go.dev/github.com/holdfast-ai/holdfast/internal/remote#Error
	Complete(ctx context.Context, req Request, on func(Delta)) (Response, error)
}

// Package llm defines a model call and the one-method interface that a provider
// implements. A call is one attempt; Temporal retries it.
//
// [Message] is what a model sees, not what the store keeps: a [domain.Message] has
// its place in a transcript (turn, step, index, sender, time), while a Message has
// the bytes of images, a content made for one call, and unique call IDs. Package
// prompt makes one from the other.
package llm

import (
	"context"
	"encoding/json"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Message is one message of a conversation as a model sees it.
type Message struct {
	Role       domain.Role
	Content    string
	Images     []Image           // of users only; sent before the text
	ToolCalls  []domain.ToolCall // of the assistant only
	ToolCallID string            // of tools only: the call that this answers
	Name       string            // of tools only: the tool's name
	Reasoning  string            // of the assistant only, for providers that want it back
}

// Image is a picture that a user attached.
type Image struct {
	MIME string // image/png, image/jpeg, image/gif or image/webp
	Data []byte
}

// ToolSpec describes a tool to a model.
type ToolSpec struct {
	Name        string
	Description string
	Parameters  json.RawMessage // JSON Schema of the arguments, an object
}

// Request is one model call.
type Request struct {
	Model       string // the provider's name for it, without the "provider/" prefix
	Messages    []Message
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

// Package demo is a provider with a canned model, for trying Holdfast without an API
// key.
package demo

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// pieceSize is roughly how many bytes of text arrive at a time.
const pieceSize = 48

// Provider implements [llm.Provider]. Its answers are deterministic.
type Provider struct{}

var _ llm.Provider = Provider{}

// Complete implements [llm.Provider]. It estimates the usage.
func (Provider) Complete(ctx context.Context, req llm.Request, on func(llm.Delta)) (llm.Response, error) {
	if ctx.Err() != nil {
		return llm.Response{}, fmt.Errorf("demo: %w", context.Cause(ctx))
	}
	content, calls := answer(req)
	stream(content, on)
	response := llm.Response{Content: content, ToolCalls: calls, FinishReason: "stop", Model: req.Model, Usage: domain.Usage{CompletionTokens: tokens(content)}}
	for _, m := range req.Messages {
		response.Usage.PromptTokens += tokens(m.Content)
	}
	for _, call := range calls {
		response.FinishReason = "tool_calls"
		response.Usage.CompletionTokens += tokens(call.Arguments)
	}
	return response, nil
}

// stream passes content to on in pieces of valid UTF-8.
func stream(content string, on func(llm.Delta)) {
	for on != nil && content != "" {
		n := text.Boundary(content, min(pieceSize, len(content)))
		on(llm.Delta{Text: content[:n]})
		content = content[n:]
	}
}

// tokens estimates how many tokens text has.
func tokens(text string) int { return (len(text) + 3) / 4 }

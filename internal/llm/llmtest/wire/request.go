// Package wire is the server side of the chat-completion API. Answers use go-openai's
// types; requests have their own, which keep what tests check: whether content was
// null, in parts, or missing.
package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/sashabaranov/go-openai"
)

// requestLimit bounds, in bytes, the body of a request.
const requestLimit = 64 << 20

// Request is a chat-completion request as received.
type Request struct {
	Model               string    `json:"model"`
	Messages            []Message `json:"messages"`
	Tools               []Tool    `json:"tools"`
	Stream              bool      `json:"stream"`
	MaxTokens           int       `json:"max_tokens"`
	MaxCompletionTokens int       `json:"max_completion_tokens"`
	Temperature         *float64  `json:"temperature"`
	ReasoningEffort     string    `json:"reasoning_effort"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// Message is one message of a request.
type Message struct {
	Role             string            `json:"role"`
	Content          Content           `json:"content"`
	ToolCalls        []openai.ToolCall `json:"tool_calls,omitempty"`
	ToolCallID       string            `json:"tool_call_id,omitempty"`
	Name             string            `json:"name,omitempty"`
	ReasoningContent string            `json:"reasoning_content,omitempty"`
}

// Content is the text of a message, sent as a string or as a list of parts, and the
// images among the parts.
type Content struct {
	Text    string
	Images  []string // URLs, in order
	Present bool     // the field was sent
	Null    bool     // the field was null
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Content) UnmarshalJSON(data []byte) error {
	*c = Content{Present: true, Null: string(data) == "null"}
	if !bytes.HasPrefix(data, []byte("[")) {
		return json.Unmarshal(data, &c.Text)
	}
	var parts []struct {
		Text     string `json:"text"`
		ImageURL struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	for _, p := range parts {
		c.Text += p.Text
		if p.ImageURL.URL != "" {
			c.Images = append(c.Images, p.ImageURL.URL)
		}
	}
	return nil
}

// Tool is a tool that a request offers.
type Tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

// ReadRequest reads the body of a chat-completion request.
func ReadRequest(w http.ResponseWriter, r *http.Request) (Request, error) {
	// Only after reading everything does the server notice a client that goes away.
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, requestLimit))
	if err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	var req Request
	if err := json.Unmarshal(body, &req); err != nil {
		return Request{}, fmt.Errorf("read request: %w", err)
	}
	return req, nil
}

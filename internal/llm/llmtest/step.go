package llmtest

import (
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/llm/llmtest/wire"
)

// Step is the server's reaction to one request. Create one with [Text], [Calls] and
// so on; the zero value is an empty completion.
type Step struct {
	completion wire.Completion
	status     int // of an error, with message and code
	code       string
	message    string
	retryAfter string
	hang       bool
	cut        int // if cutting: break the connection after this many events
	cutting    bool
	stall      int // if stalling: go silent after this many events
	stalling   bool
	drip       time.Duration // between two events
	raw        []byte        // the whole body, of type rawType
	rawType    string
	after      <-chan struct{}
}

// Call is a tool call that the model makes.
type Call struct {
	ID        string // empty: the server omits it
	Name      string
	Arguments string // as the model writes it, valid or not
}

// Text answers with text.
func Text(text string) Step { return Step{completion: wire.Completion{Content: text}} }

// Calls answers with tool calls.
func Calls(calls ...Call) Step {
	var c wire.Completion
	for _, call := range calls {
		c.Calls = append(c.Calls, openai.ToolCall{
			ID:       call.ID,
			Type:     "function",
			Function: openai.FunctionCall{Name: call.Name, Arguments: call.Arguments},
		})
	}
	return Step{completion: c}
}

// BadJSON calls a tool with a broken JSON object as arguments: {path: 'a.txt',
// without its end.
func BadJSON(id, name string) Step {
	return Calls(Call{ID: id, Name: name, Arguments: `{path: 'a.txt', `})
}

// Empty answers with nothing.
func Empty() Step { return Step{} }

// Status fails with an HTTP status and a Retry-After header, unless empty.
func Status(status int, retryAfter string) Step {
	return Step{status: status, retryAfter: retryAfter, message: "scripted failure"}
}

// Refuse fails with an HTTP status and the API's code and message.
func Refuse(status int, code, message string) Step {
	return Step{status: status, code: code, message: message}
}

// TooLong fails because the conversation does not fit the model.
func TooLong() Step { return Refuse(400, "context_length_exceeded", "the context is too long") }

// NoImages fails because the model takes no images.
func NoImages() Step { return Refuse(400, "", "This model does not support image input") }

// Hang stays silent until the client disconnects or [Server.Release] is called, and
// then breaks the connection.
func Hang() Step { return Step{hang: true} }

// CutStream breaks the connection after this many events of a stream of text. The
// first event has no text.
func CutStream(text string, events int) Step {
	s := Text(text)
	s.cut, s.cutting = events, true
	return s
}

// StallStream goes silent, like [Hang], after this many events of a stream of text.
func StallStream(text string, events int) Step {
	s := Text(text)
	s.stall, s.stalling = events, true
	return s
}

// SlowDrip streams text with a pause before each event.
func SlowDrip(text string, pause time.Duration) Step {
	s := Text(text)
	s.drip = pause
	return s
}

// Raw answers with status 200 and this body.
func Raw(contentType, body string) Step { return Step{raw: []byte(body), rawType: contentType} }

// After delays the step until ready is closed or delivers a value.
func (s Step) After(ready <-chan struct{}) Step {
	s.after = ready
	return s
}

// Thinking adds reasoning, in its own field.
func (s Step) Thinking(reasoning string) Step {
	s.completion.Reasoning = reasoning
	return s
}

// Finish replaces the finish reason.
func (s Step) Finish(reason string) Step {
	s.completion.FinishReason = openai.FinishReason(reason)
	return s
}

// Usage adds token counts.
func (s Step) Usage(prompt, completion int) Step {
	s.completion.Usage = openai.Usage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
	return s
}

// Cached adds the number of cached prompt tokens. Call it after Usage.
func (s Step) Cached(tokens int) Step {
	s.completion.Usage.PromptTokensDetails = &openai.PromptTokensDetails{CachedTokens: tokens}
	return s
}

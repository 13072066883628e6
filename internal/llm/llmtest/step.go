package llmtest

import (
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/llm/wire"
)

// Step is what the server does with one request. Make one with [Text], [Calls]
// and so on; the zero value is an empty completion.
type Step struct {
	completion wire.Completion
	status     int // with message and code: answer with an error
	code       string
	message    string
	retryAfter string
	hang       bool
	cut        int // with cutting: break the connection after so many events
	cutting    bool
	stall      int // with stalling: go silent after so many events
	stalling   bool
	drip       time.Duration // between two events
	raw        []byte        // the whole body, with contentType
	rawType    string
	after      <-chan struct{}
}

// Call is a tool call that the model makes.
type Call struct {
	ID        string // empty: the server omits it
	Name      string
	Arguments string // as the model writes it, well or not
}

// Text is an answer.
func Text(text string) Step { return Step{completion: wire.Completion{Content: text}} }

// Calls is an answer that calls tools.
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

// BadJSON calls a tool with arguments that are a broken JSON object:
// {path: 'a.txt', with the end missing.
func BadJSON(id, name string) Step {
	return Calls(Call{ID: id, Name: name, Arguments: `{path: 'a.txt', `})
}

// Empty is an answer that says nothing.
func Empty() Step { return Step{} }

// Status refuses with an HTTP status. retryAfter is the Retry-After header; empty
// for none.
func Status(status int, retryAfter string) Step {
	return Step{status: status, retryAfter: retryAfter, message: "scripted failure"}
}

// Refuse refuses with an HTTP status and the API's own code and message.
func Refuse(status int, code, message string) Step {
	return Step{status: status, code: code, message: message}
}

// TooLong refuses because the conversation does not fit the model.
func TooLong() Step { return Refuse(400, "context_length_exceeded", "the context is too long") }

// NoImages refuses because the model takes no images.
func NoImages() Step { return Refuse(400, "", "This model does not support image input") }

// Hang says nothing until the client goes away or [Server.Release] is called;
// then it breaks the connection.
func Hang() Step { return Step{hang: true} }

// CutStream breaks the connection after so many events of a stream that would
// have said text. The first event has no text.
func CutStream(text string, events int) Step {
	s := Text(text)
	s.cut, s.cutting = events, true
	return s
}

// StallStream goes silent, as [Hang] does, after so many events of a stream that
// would have said text.
func StallStream(text string, events int) Step {
	s := Text(text)
	s.stall, s.stalling = events, true
	return s
}

// SlowDrip says text with a pause before each event of the stream.
func SlowDrip(text string, pause time.Duration) Step {
	s := Text(text)
	s.drip = pause
	return s
}

// Raw answers with status 200 and a body as it is.
func Raw(contentType, body string) Step { return Step{raw: []byte(body), rawType: contentType} }

// After returns the step delayed until ready is closed or gives a value. A client
// that goes away meanwhile gets nothing.
func (s Step) After(ready <-chan struct{}) Step {
	s.after = ready
	return s
}

// Thinking returns the step with reasoning in a field of its own.
func (s Step) Thinking(reasoning string) Step {
	s.completion.Reasoning = reasoning
	return s
}

// Finish returns the step with another finish reason.
func (s Step) Finish(reason string) Step {
	s.completion.FinishReason = openai.FinishReason(reason)
	return s
}

// Usage returns the step with the tokens that it is said to have used.
func (s Step) Usage(prompt, completion int) Step {
	s.completion.Usage = openai.Usage{PromptTokens: prompt, CompletionTokens: completion, TotalTokens: prompt + completion}
	return s
}

// Cached returns the step with the tokens of the prompt that are said to have
// been in the provider's cache. It comes after Usage.
func (s Step) Cached(tokens int) Step {
	s.completion.Usage.PromptTokensDetails = &openai.PromptTokensDetails{CachedTokens: tokens}
	return s
}

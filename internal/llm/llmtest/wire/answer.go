package wire

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/sashabaranov/go-openai"

	"github.com/holdfast-ai/holdfast/internal/text"
)

// Completion is the server's response.
type Completion struct {
	Content      string
	Reasoning    string
	Calls        []openai.ToolCall
	FinishReason openai.FinishReason // empty: "tool_calls" if there are calls, else "stop"
	Usage        openai.Usage
}

func (c Completion) finishReason() openai.FinishReason {
	switch {
	case c.FinishReason != "":
		return c.FinishReason
	case len(c.Calls) > 0:
		return openai.FinishReasonToolCalls
	}
	return openai.FinishReasonStop
}

const completionID = "chatcmpl-holdfast"

// Write answers req with c, as a stream if req asks for one.
func Write(w http.ResponseWriter, req Request, c Completion) {
	if !req.Stream {
		WriteJSON(w, http.StatusOK, whole(req, c))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = w.Write(bytes.Join(Events(req, c), nil)) // the client may be gone
}

func whole(req Request, c Completion) openai.ChatCompletionResponse {
	return openai.ChatCompletionResponse{
		ID: completionID, Object: "chat.completion", Model: req.Model, Usage: c.Usage,
		Choices: []openai.ChatCompletionChoice{{
			Message: openai.ChatCompletionMessage{
				Role: openai.ChatMessageRoleAssistant, Content: c.Content, ReasoningContent: c.Reasoning, ToolCalls: c.Calls,
			},
			FinishReason: c.finishReason(),
		}},
	}
}

// pieceSize is roughly how many bytes of text one event of a stream carries.
const pieceSize = 48

// Events returns c as the events of a stream, including its end. Each includes the
// empty line that ends it.
func Events(req Request, c Completion) [][]byte {
	type delta = openai.ChatCompletionStreamChoiceDelta
	deltas := []delta{{Role: openai.ChatMessageRoleAssistant}}
	for _, piece := range pieces(c.Reasoning) {
		deltas = append(deltas, delta{ReasoningContent: piece})
	}
	for _, piece := range pieces(c.Content) {
		deltas = append(deltas, delta{Content: piece})
	}
	for i, call := range c.Calls {
		arguments := call.Function.Arguments
		half := text.Boundary(arguments, len(arguments)/2)
		first, second := call, openai.ToolCall{Index: &i, Function: openai.FunctionCall{Arguments: arguments[half:]}}
		first.Index, first.Function.Arguments = &i, arguments[:half]
		deltas = append(deltas, delta{ToolCalls: []openai.ToolCall{first}}, delta{ToolCalls: []openai.ToolCall{second}})
	}
	var events [][]byte
	send := func(usage *openai.Usage, choices ...openai.ChatCompletionStreamChoice) {
		body, _ := json.Marshal(openai.ChatCompletionStreamResponse{ // these types always marshal
			ID: completionID, Object: "chat.completion.chunk", Model: req.Model, Choices: choices, Usage: usage,
		})
		events = append(events, append(append([]byte("data: "), body...), "\n\n"...))
	}
	for _, d := range deltas {
		send(nil, openai.ChatCompletionStreamChoice{Delta: d})
	}
	send(nil, openai.ChatCompletionStreamChoice{FinishReason: c.finishReason()})
	if req.StreamOptions.IncludeUsage {
		send(&c.Usage, []openai.ChatCompletionStreamChoice{}...)
	}
	return append(events, []byte("data: [DONE]\n\n"))
}

// WriteJSON answers with value.
func WriteJSON(w http.ResponseWriter, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}

// WriteError answers that the request failed. code may be empty.
func WriteError(w http.ResponseWriter, status int, code, message string) {
	failure := &openai.APIError{Message: message, Type: "invalid_request_error"}
	if status >= 500 {
		failure.Type = "server_error"
	}
	if code != "" {
		failure.Code = code
	}
	WriteJSON(w, status, openai.ErrorResponse{Error: failure})
}

// WriteModels answers with a list of models.
func WriteModels(w http.ResponseWriter, models ...string) {
	list := openai.ModelsList{}
	for _, m := range models {
		list.Models = append(list.Models, openai.Model{ID: m, Object: "model", OwnedBy: "holdfast"})
	}
	WriteJSON(w, http.StatusOK, list)
}

// pieces splits s into parts that are each valid UTF-8.
func pieces(s string) []string {
	var out []string
	for len(s) > pieceSize {
		n := text.Boundary(s, pieceSize)
		out = append(out, s[:n])
		s = s[n:]
	}
	if s != "" {
		out = append(out, s)
	}
	return out
}

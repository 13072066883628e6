package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

// Usage counts tokens.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`

	PromptTokensDetails *PromptTokensDetails `json:"prompt_tokens_details,omitempty"` // nil: not said
}

// PromptTokensDetails says more of a prompt's tokens.
type PromptTokensDetails struct {
	CachedTokens int `json:"cached_tokens"`
}

// Completion is an answer.
type Completion struct {
	Content      string
	Reasoning    string
	Calls        []Call
	FinishReason string // empty: "tool_calls" with calls, else "stop"
	Usage        Usage
}

func (c Completion) finishReason() string {
	switch {
	case c.FinishReason != "":
		return c.FinishReason
	case len(c.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

// delta is the message of an answer, or a piece of it.
type delta struct {
	Role             string  `json:"role,omitempty"`
	Content          *string `json:"content,omitempty"`
	ReasoningContent string  `json:"reasoning_content,omitempty"`
	ToolCalls        []Call  `json:"tool_calls,omitempty"`
}

type choice struct {
	Index        int     `json:"index"`
	Message      *delta  `json:"message,omitempty"`
	Delta        *delta  `json:"delta,omitempty"`
	FinishReason *string `json:"finish_reason"`
}

type answer struct {
	ID      string   `json:"id"`
	Object  string   `json:"object"`
	Created int64    `json:"created"`
	Model   string   `json:"model"`
	Choices []choice `json:"choices"`
	Usage   *Usage   `json:"usage,omitempty"`
}

// Write answers req with c, as a stream if req asks for one.
func Write(w http.ResponseWriter, req Request, c Completion) {
	if !req.Stream {
		WriteJSON(w, http.StatusOK, Whole(req, c))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	var all bytes.Buffer
	for _, event := range Events(req, c) {
		all.Write(event)
	}
	_, _ = w.Write(all.Bytes()) // a client that went away is told nothing
}

// Whole returns the answer as the JSON value that is sent without streaming.
func Whole(req Request, c Completion) any {
	reason := c.finishReason()
	a := newAnswer(req, "chat.completion")
	a.Choices = []choice{{
		Message:      &delta{Role: "assistant", Content: &c.Content, ReasoningContent: c.Reasoning, ToolCalls: c.Calls},
		FinishReason: &reason,
	}}
	a.Usage = &c.Usage
	return a
}

// pieceSize is about how many bytes of text are in one event of a stream.
const pieceSize = 48

// Events returns the answer as the events of a stream, its end included. Each is
// complete with the empty line after it.
func Events(req Request, c Completion) [][]byte {
	role := delta{Role: "assistant", Content: new(string)}
	deltas := []delta{role}
	for _, piece := range pieces(c.Reasoning) {
		deltas = append(deltas, delta{ReasoningContent: piece})
	}
	for _, piece := range pieces(c.Content) {
		deltas = append(deltas, delta{Content: &piece})
	}
	for i, call := range c.Calls {
		arguments := call.Function.Arguments
		half := boundary(arguments, len(arguments)/2)
		begin, end := call, Call{Index: &i, Function: FunctionCall{Arguments: arguments[half:]}}
		begin.Index, begin.Function.Arguments = &i, arguments[:half]
		deltas = append(deltas, delta{ToolCalls: []Call{begin}}, delta{ToolCalls: []Call{end}})
	}
	var events [][]byte
	for _, d := range deltas {
		a := newAnswer(req, "chat.completion.chunk")
		a.Choices = []choice{{Delta: &d}}
		events = append(events, event(a))
	}
	reason := c.finishReason()
	last := newAnswer(req, "chat.completion.chunk")
	last.Choices = []choice{{Delta: &delta{}, FinishReason: &reason}}
	events = append(events, event(last))
	if req.StreamOptions.IncludeUsage {
		usage := newAnswer(req, "chat.completion.chunk")
		usage.Choices, usage.Usage = []choice{}, &c.Usage
		events = append(events, event(usage))
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
	_, _ = w.Write(body) // a client that went away is told nothing
}

// WriteError answers that the request failed. code may be empty.
func WriteError(w http.ResponseWriter, status int, code, message string) {
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "server_error"
	}
	detail := map[string]any{"message": message, "type": kind, "code": nil}
	if code != "" {
		detail["code"] = code
	}
	WriteJSON(w, status, map[string]any{"error": detail})
}

// WriteModels answers the question which models there are.
func WriteModels(w http.ResponseWriter, models ...string) {
	data := []map[string]any{}
	for _, m := range models {
		data = append(data, map[string]any{"id": m, "object": "model", "created": 0, "owned_by": "holdfast"})
	}
	WriteJSON(w, http.StatusOK, map[string]any{"object": "list", "data": data})
}

func newAnswer(req Request, object string) answer {
	return answer{ID: "chatcmpl-holdfast", Object: object, Model: req.Model}
}

func event(a answer) []byte {
	body, err := json.Marshal(a)
	if err != nil {
		body = []byte(`{"error":{"message":"the answer cannot be marshalled"}}`)
	}
	return append(append([]byte("data: "), body...), "\n\n"...)
}

// pieces cuts text into parts that are valid UTF-8 each.
func pieces(text string) []string {
	var out []string
	for len(text) > pieceSize {
		n := boundary(text, pieceSize)
		out = append(out, text[:n])
		text = text[n:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}

// boundary returns the beginning of the character at byte n of text.
func boundary(text string, n int) int {
	for at := n; at > max(0, n-utf8.UTFMax); at-- {
		if at >= len(text) || utf8.RuneStart(text[at]) {
			return at
		}
	}
	return n
}

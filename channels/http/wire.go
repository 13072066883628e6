package http

import "github.com/holdfast-ai/holdfast/channels"

// SendRequest is the body of POST /v1/messages.
type SendRequest struct {
	Session string `json:"session"`          // names the session; empty: "main"
	Text    string `json:"text"`             // Markdown
	ID      string `json:"id,omitempty"`     // the same again is the same message; empty: a new one is made
	Sender  string `json:"sender,omitempty"` // who wrote it; empty: "http"
	Wait    bool   `json:"wait,omitempty"`   // answer with a [Message] once it has ended
}

// Receipt answers a message that was accepted.
type Receipt struct {
	ID         string `json:"id"`
	Session    string `json:"session"` // session key
	WorkflowID string `json:"workflow_id"`
}

// Message is an accepted message and how far its answer is. It is also the data
// of the "done" event.
type Message struct {
	ID      string          `json:"id"` // as in the [Receipt]
	Session string          `json:"session"`
	Status  channels.Status `json:"status"`
	Reply   string          `json:"reply"`
	Turn    string          `json:"turn,omitempty"`
	Usage   Usage           `json:"usage,omitzero"`
	// Approvals are what the conversation waits for, while the status is not final.
	Approvals []channels.Approval `json:"approvals,omitempty"`
}

// Usage counts the tokens that a turn consumed.
type Usage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
}

// Event is the data of every event of a stream but "done"; the event's name is
// the [event.Kind].
type Event struct {
	Text string `json:"text,omitempty"`
	Tool string `json:"tool,omitempty"`
	Step int    `json:"step,omitempty"`
	ID   string `json:"id,omitempty"` // of the approval that is asked for
}

// Transcript answers GET /v1/sessions/KEY/messages.
type Transcript struct {
	Session  string                       `json:"session"`
	Messages []channels.TranscriptMessage `json:"messages"`
}

// Unasked answers GET /v1/sessions/KEY/unasked.
type Unasked struct {
	Session string                  `json:"session"`
	Replies []channels.UnaskedReply `json:"replies"`
}

// Health answers GET /healthz.
type Health struct {
	Status  string `json:"status"` // "ok"
	Version string `json:"version"`
}

// ErrorBody is the body of every answer that is not a success.
type ErrorBody struct {
	Error ErrorDetail `json:"error"`
}

// ErrorDetail says what was wrong, as OpenAI's API does.
type ErrorDetail struct {
	Message string `json:"message"` // with what to do about it
	Type    string `json:"type"`
	Param   string `json:"param,omitempty"` // the field that it is about
	Code    string `json:"code,omitempty"`
}

func newMessage(id string, state channels.MessageState) Message {
	return Message{
		ID: id, Session: state.Session, Status: state.Status, Reply: state.Reply, Turn: state.Turn,
		Usage:     Usage{PromptTokens: state.Usage.PromptTokens, CompletionTokens: state.Usage.CompletionTokens},
		Approvals: state.Approvals,
	}
}

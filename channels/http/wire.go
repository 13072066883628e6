package http

import (
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// SendRequest is the body of POST /v1/messages.
type SendRequest struct {
	Session string `json:"session"`          // name; empty: "main"
	Text    string `json:"text"`             // Markdown
	ID      string `json:"id,omitempty"`     // sending it again has no effect; empty: the server makes one
	Sender  string `json:"sender,omitempty"` // empty: "http"
	Wait    bool   `json:"wait,omitempty"`   // answer with a [Message] once it has ended
}

// Receipt answers a message that was accepted.
type Receipt struct {
	ID         string `json:"id"`
	Session    string `json:"session"` // session key
	WorkflowID string `json:"workflow_id"`
}

// Message is an accepted message with its status and reply. It is also the data of the
// "done" event.
type Message struct {
	ID      string             `json:"id"` // as in the [Receipt]
	Session string             `json:"session"`
	Status  domain.ReplyStatus `json:"status"`
	Reply   string             `json:"reply"`
	Turn    string             `json:"turn,omitempty"`
	Usage   domain.Usage       `json:"usage,omitzero"`
	// Approvals are those that the session waits for; only until the message has ended.
	Approvals []domain.Approval `json:"approvals,omitempty"`
}

// Event is the data of every event of a stream but "done"; the event's name is
// the [event.Kind].
type Event struct {
	Text string `json:"text,omitempty"`
	Tool string `json:"tool,omitempty"`
	Step int    `json:"step,omitempty"`
	ID   string `json:"id,omitempty"` // of the approval
}

// Transcript answers GET /v1/sessions/KEY/messages.
type Transcript struct {
	Session  string           `json:"session"`
	Messages []domain.Message `json:"messages"`
}

// Background answers GET /v1/sessions/KEY/background.
type Background struct {
	Session string                   `json:"session"`
	Replies []domain.BackgroundReply `json:"replies"`
}

// Health answers GET /healthz.
type Health struct {
	Status  string `json:"status"` // "ok"
	Version string `json:"version"`
}

// ErrorBody is the body of every error response.
type ErrorBody struct {
	Error ErrorDetail `json:"error"`
}

// ErrorDetail describes an error in the form of OpenAI's API.
type ErrorDetail struct {
	Message string `json:"message"` // includes what to do
	Type    string `json:"type"`
	Param   string `json:"param,omitempty"` // the field at fault
	Code    string `json:"code,omitempty"`
}

func newMessage(id string, state domain.Reply) Message {
	return Message{
		ID: id, Session: state.Session, Status: state.Status, Reply: state.Text, Turn: state.Turn,
		Usage:     state.Usage,
		Approvals: state.Approvals,
	}
}

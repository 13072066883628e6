package http

import (
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// SendRequest is the body of POST /v1/messages.
type SendRequest struct {
	Session string `json:"session"`            // name; empty: "main"
	Text    string `json:"text"`               // Markdown
	ID      string `json:"id,omitempty"`       // sending it again has no effect; empty: the server makes one
	Sender  string `json:"sender,omitempty"`   // empty: "http"
	Wait    bool   `json:"wait,omitempty"`     // answer with the [domain.Reply] once it has ended
	ReplyTo string `json:"reply_to,omitempty"` // name of the endpoint that the reply is pushed to; empty: it is fetched
}

// Receipt answers a message that was accepted.
type Receipt struct {
	ID         string `json:"id"`
	Session    string `json:"session"` // session key
	WorkflowID string `json:"workflow_id"`
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

package domain

import "time"

// Role is the author of a message, as the chat-completion APIs name it.
type Role string

// The roles.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a transcript. Its JSON is part of the public HTTP API.
type Message struct {
	Turn       string     `json:"turn,omitempty"`
	Step       int        `json:"step,omitempty"`
	Index      int        `json:"-"` // position among its step's user messages or results; 0 for a completion
	Role       Role       `json:"role"`
	Content    string     `json:"content"`
	Reasoning  string     `json:"-"`
	Images     []Image    `json:"-"`                      // user messages, in a model call only
	Sender     string     `json:"sender,omitempty"`       // user messages
	SenderName string     `json:"-"`                      // user messages
	Source     string     `json:"-"`                      // user messages: ID of the inbound message
	Name       string     `json:"name,omitempty"`         // results: the tool
	CallID     string     `json:"tool_call_id,omitempty"` // results: the call they answer
	Failed     bool       `json:"-"`                      // results: the call failed
	Filled     bool       `json:"-"`                      // results: the call never ran; Content says why
	Full       []byte     `json:"-"`                      // results: the whole output if Content was cut; write-only
	ToolCalls  []ToolCall `json:"tool_calls,omitempty"`   // completions
	CreatedAt  time.Time  `json:"created_at,omitzero"`
}

// Image is a picture that a user attached.
type Image struct {
	MIME string // image/png, image/jpeg, image/gif or image/webp
	Data []byte
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // a JSON object as text; "{}" for no arguments
}

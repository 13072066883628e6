package domain

import "time"

// Session is a conversation. `holdfast sessions --json` prints its JSON.
type Session struct {
	Key      string `json:"key"` // see [SessionKey]
	Channel  string `json:"channel"`
	Epoch    int    `json:"epoch"` // counts fresh starts
	Turns    int    `json:"turns"`
	Messages int    `json:"messages"`
	Spent
	Model     string    `json:"model,omitempty"` // chosen by a user, as provider/model; empty: the configured one
	CreatedAt time.Time `json:"created_at,omitzero"`
	UpdatedAt time.Time `json:"used_at,omitzero"`
	Running   bool      `json:"running"` // it has unfinished work
}

// SessionRef names a session and the channel its replies go to.
type SessionRef struct {
	Key     string `json:"key"`
	Channel string `json:"channel"`
	Depth   int    `json:"depth,omitempty"` // nesting of a subagent: 1 if a user's session spawned it
}

// Route is where a turn's reply goes.
type Route struct {
	Channel string
	Chat    string
	Thread  string
	Sender  string // of the message that began the turn
	Push    bool   // it is delivered; else the client fetches it
}

// Backlog counts unfinished work.
type Backlog struct {
	Messages  int // accepted but not consumed by a turn
	Turns     int // running
	Approvals int // waiting for an answer
}

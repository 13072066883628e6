package domain

import "time"

// Session is a conversation.
type Session struct {
	Key       string // see [SessionKey]
	Channel   string
	Epoch     int // counts fresh starts
	Turns     int
	Messages  int
	Usage     Usage
	Cost      int64  // millionths of a US dollar, as far as prices are known
	Unpriced  int    // completions without a known price
	Model     string // chosen by a user, as provider/model; empty: the configured one
	CreatedAt time.Time
	UpdatedAt time.Time
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

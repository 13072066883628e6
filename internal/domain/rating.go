package domain

import "time"

// Rating is what a person thinks of a turn's reply.
type Rating struct {
	Turn    string    `json:"-"`
	Channel string    `json:"-"` // where the reply was read, with Chat
	Chat    string    `json:"-"`
	Sender  string    `json:"sender"`
	Good    bool      `json:"good"`
	At      time.Time `json:"at"`
}

// Word returns "good" or "bad".
func (r Rating) Word() string {
	if r.Good {
		return "good"
	}
	return "bad"
}

// Package platformtest shows what a chat platform promises. It runs the real starter,
// workflows, activities and a SQLite store against a fake of the platform; only the engine is
// the SDK's test environment, so that a scenario takes milliseconds. The process under test
// can die at any boundary, and another one continues.
package platformtest

import (
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
)

// Promise is how often people see a reply.
type Promise int

// The promises, the strongest first. A fault is a crash, or an answer of the platform that
// was lost, while something was posted.
const (
	// Exactly: every reply once, and nothing else of ours.
	Exactly Promise = iota
	// StrayPlaceholder: every reply once; a fault may leave a placeholder ("…").
	StrayPlaceholder
	// AtLeastOnce: every reply; a fault may double one.
	AtLeastOnce
)

// Channel is a channel of the chat core.
type Channel interface {
	channels.Receiver
	channels.Sender
	channels.Finder
	channels.Keyed
	channels.Placeholders
	channels.Splitter
	channels.Presenter
	channels.Questioner
	channels.RecipientResolver
	channels.Enricher
}

// Platform is a fake of a platform, as the scenarios use it: with a direct chat between Ana
// and the bot and, unless Alone is set, a group or thread with Ana, Ben and the bot.
// Scenarios that need a field that is nil are skipped.
type Platform struct {
	Name    string // of the channel
	Promise Promise
	Alone   bool // there are only direct chats
	Drafts  bool // turns are shown as drafts

	// Open returns the channel of another process on the platform, with the same settings:
	// everybody is answered. Short paces of drafts make the scenarios fast.
	Open func(t *testing.T) Channel
	// Listening waits until the platform can deliver to a channel that runs; nil: it always can.
	Listening func(t *testing.T, c Channel)
	// Say has somebody write a message, which mentions the bot if it has to. It does not wait
	// until the message is delivered.
	Say func(m Said)
	// Redeliver delivers the last message again and returns when it is acknowledged; nil: the
	// platform never does, or cannot be made to.
	Redeliver func(t *testing.T)
	// Unordered is set if the platform delivers messages that are written in quick succession
	// in any order, as with a webhook request for each.
	Unordered bool
	// Backlog is set if messages that are written while no process runs arrive later.
	Backlog bool
	// Seen returns the messages that people see now, oldest first.
	Seen func(group bool) []Seen

	// LoseAnswers executes the next n posts, and loses the answers.
	LoseAnswers func(n int)
	// Limit refuses the next n posts, each of which may be repeated after a while.
	Limit func(n int, retryAfter time.Duration)
	// Down makes the platform unreachable until up is called.
	Down func() (up func())

	// TextLimit is the length of the longest message, in units of Measure; 0: unlimited.
	TextLimit int
	Measure   func(raw string) int // nil: characters
	// Files is set if people and the bot can send files.
	Files bool
	// OpenHome has Ana open her page of the bot, and returns what it shows then; nil: people have
	// no such pages.
	OpenHome func(t *testing.T) (home func() Seen)
	// Rated is set if a reply has the buttons "Good answer" and "Bad answer".
	Rated bool
	// Stop is what a person writes to stop a turn; empty: "/stop".
	Stop string
}

// Person is who writes.
type Person int

// The people.
const (
	Ana Person = iota
	Ben
)

// Said is a message of a person.
type Said struct {
	By    Person
	Group bool // else in Ana's direct chat
	Text  string
	File  *File
}

// File is an attached file.
type File struct {
	Name    string
	Content []byte
}

// Seen is a message that people see.
type Seen struct {
	Ours    bool
	Text    string            // as it reads, in any markup
	Raw     string            // as it was sent, if Text is not; its length counts
	File    *File             // the message is a file
	Buttons map[string]func() // by label: presses it
}

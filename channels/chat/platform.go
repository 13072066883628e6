// Package chat is the core of every chat platform: receiving messages and writing
// replies, apart from the platform's own API and markup.
//
// A platform's package implements [Platform] and as many of the optional
// abilities as the platform has; the core asks for them by type assertion and
// does without those that are missing.
//
// Starters run the receiver ([NewReceiver]); workers use the parts that write
// ([NewOutbound]), add names, files and earlier messages ([NewEnricher]) and find
// recipients ([NewResolver]). A platform's channel embeds the four. Its Receive parses what
// is delivered into a [Post], [Click] or [Command] and hands it to the [Inbox], often by
// [Webhook] or [Inbox.Poll]. The node package lists the platforms.
package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Platform is implemented by every chat platform. Errors of failed calls are
// remote.Errors: the core reads Status and RetryAfter from them. Safe for
// concurrent use; only Receive is for one caller at a time.
type Platform interface {
	Writer
	// Identify returns the bot's own identity.
	Identify(ctx context.Context) (Self, error)
	// Receive hands what the platform delivers to in until ctx ends, reconnecting as
	// needed. It acknowledges a delivery only after in returned nil for it.
	Receive(ctx context.Context, in Inbox) error
}

// Writer is the part of a platform that is needed to write to it.
type Writer interface {
	// Name returns the channel's name, such as "slack".
	Name() string
	// Limits returns the platform's limits.
	Limits() Limits
	// Post makes one attempt to post a message and returns the platform's ID for it.
	Post(ctx context.Context, at Place, msg Message) (id string, err error)
}

// Self is the account that the agent has on a platform.
type Self struct {
	Scope string // the workspace or server, if IDs are unique only there
	ID    string
	Name  string
}

// Limits are a platform's limits. The zero value of a field means the core's default.
type Limits struct {
	Text    int                            // the maximum length of a message, in units of Measure; 0: unlimited
	Measure func(markdown string) int      // how much of Text a text takes up once rendered; nil: [Runes]
	Prepare func(markdown string) string   // rewrites a long text before it is split, such as tables; nil: does not
	Cut     func(markdown string) []string // cuts a text where a message must end whatever its length; nil: nowhere
	// Answer is how many messages of a reply the platform takes at once; 0: any number. The
	// others follow later, and the last one before them says so.
	Answer  int
	Draft   int  // the maximum number of runes of a reply in a draft
	Code    Code // which code is sent as a file instead
	Buttons bool // messages can have buttons; else questions say how to answer in words
	Pace    Pace
}

// Code limits the code in a message, where the platform takes files. Zero: no limit.
type Code struct{ Runes, Lines int }

// Place is the destination of a message.
type Place struct {
	Chat    string // the platform's ID of the chat, as in [domain.Inbound]
	Thread  string // empty: none
	ReplyTo string // the platform's ID of the message that is answered; empty: none
	Person  string // the platform's ID of the person who is answered, if any
}

// Message is a message for the platform to render.
type Message struct {
	// ID is the outbox ID. It is the same in every attempt: the platform stores it with
	// the message, or derives from it the key that it sends.
	ID string
	// Draft is the ID of the reply that the message is a draft of.
	Draft bool
	// Part numbers the messages of a reply, from 1; the same in every attempt.
	Part     int
	Text     string // Markdown; of a file, its description
	Note     string // plain text shown separately below Text: the agent's activity, how a question was answered
	Buttons  []Button
	Approval string // the ID of the question that the message asks; empty: none
	Rate     string // the turn whose reply ends with the message, if people may rate it; see [ActionGood]
	File     string // not empty: the message is a file with this name and Content
	Content  []byte
}

// Key returns 32 hexadecimal digits that are the same in every attempt to post the message.
// Its draft has others.
func (m Message) Key() string {
	name := m.ID
	if m.Draft {
		name += "/draft"
	}
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:16])
}

// Editor is a [Platform] whose messages can be changed. Both methods may be
// repeated. [ErrNoMessage] means that the message can never be edited.
// Deleting a message that does not exist is not an error.
type Editor interface {
	Edit(ctx context.Context, at Place, id string, msg Message) error
	Delete(ctx context.Context, at Place, id string) error
}

// Uploader is a [Platform] with a [History] that takes a file in two steps: an upload that
// nobody sees, and a call that posts it. The upload's ID is recorded in between, so that a
// posted file is recognized by it.
type Uploader interface {
	// Upload stores a file and returns the platform's ID of it, which [Posted.Files] will have.
	Upload(ctx context.Context, msg Message) (id string, err error)
	// Publish makes one attempt to post an upload. [ErrNoMessage] means that it is gone.
	Publish(ctx context.Context, at Place, id string, msg Message) error
}

// Streamer is an [Editor] that can also show text as it grows. A stream has no text
// at first, can only be appended to, and can be edited once it was stopped.
type Streamer interface {
	// CanStream reports whether a draft can be a stream there.
	CanStream(at Place) bool
	// Streamable returns the part of a text that can be streamed already, in the platform's
	// markup. The result for a longer text starts with the result for its beginning.
	Streamable(text string) string
	// StartStream posts an empty stream.
	StartStream(ctx context.Context, at Place) (id string, err error)
	// AppendStream appends text. [ErrStreamEnded] if the platform ended the stream.
	AppendStream(ctx context.Context, at Place, id, text string) error
	// StopStream ends a stream and marks it as the draft of the message with that ID.
	// Stopping an ended stream is not an error.
	StopStream(ctx context.Context, at Place, id, message string) error
}

// Throttled is a [Platform] that knows when it is rate limited.
type Throttled interface{ Busy(at Place) bool }

// Indicator is a [Platform] that can show that the agent is working without a message:
// a typing indicator, a status, or a reaction to the message that is answered.
type Indicator interface {
	// Indicates returns how the platform shows the state of a turn there.
	Indicates(ctx context.Context, at Place) (Indicates, error)
	// Indicate shows a state. Showing a state again is not an error.
	Indicate(ctx context.Context, at Place, what Indication) error
}

// Indicates describes how a state is shown; the zero value: not at all.
type Indicates struct {
	State bool          // by a mark on each message that is answered, set without a Text
	Text  bool          // by a text for the conversation, such as a status line or a typing indicator
	Lapse time.Duration // after which the platform drops the text; 0: never
}

// Indication is a state that an [Indicator] shows.
type Indication struct {
	State State
	Text  string // such as "runs exec: go test ./..."; empty: clear it
}

// Titler is a [Platform] whose conversations have titles.
type Titler interface {
	// Entitle gives a title, of one line, to the conversation that a message opened. Doing so
	// again is not an error, nor is a place without titles.
	Entitle(ctx context.Context, at Place, title string) error
}

// State is the progress of a message.
type State string

// The states of an [Indication].
const (
	StateWorking  State = "working"
	StateWaiting  State = "waiting" // for a person's answer
	StateAnswered State = "answered"
	StateFailed   State = "failed"
)

// Whisperer is a [Platform] that can tell one person something.
type Whisperer interface {
	// Whisper shows text (Markdown) to one person, unseen by others where the chat has others.
	Whisper(ctx context.Context, at Place, person, text string) error
}

// History is a [Platform] whose messages can be read back.
type History interface {
	// History returns messages that were posted there, oldest first.
	History(ctx context.Context, at Place, q Query) ([]Posted, error)
}

// Query selects messages.
type Query struct {
	After, Before time.Time // exclusive; zero: open
	// ID is the outbox ID of the only message that is looked for; empty: all. A platform
	// that can search by it returns less.
	ID string
}

// Posted is a message that was read back.
type Posted struct {
	ID     string // the platform's
	Sender string // the platform's ID of the author
	Name   string // of the author, if the platform says
	Ours   bool
	Bot    bool // the author is a bot
	Text   string
	SentAt time.Time
	Files  []domain.File
	// Of our own messages:
	Message   string // the outbox ID that it carries; empty: none
	Draft     bool   // it stands for that message
	Written   bool   // of a draft: it shows the beginning of that message, not only what is being done
	Streaming bool   // a stream that was not stopped
	Empty     bool   // nothing is in it
}

// Keyed is a [Platform] that takes a key on send and recognizes a message that is sent
// again with the same one: a nonce, UUID or transaction ID made of [Message.Key]. Then Post
// returns the ID of the first. For as long as keys last the core sends again after an
// attempt without an answer; later it looks for the message first ([History]).
type Keyed interface{ KeyLasts() time.Duration }

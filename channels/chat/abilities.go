package chat

import (
	"context"
	"io"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Directory is a [Platform] that looks up people and chats by ID.
type Directory interface {
	// Who returns a person or a chat by ID; empty if the platform does not know.
	Who(ctx context.Context, id string) (Profile, error)
}

// Profile describes a person or a chat.
type Profile struct {
	Name   string
	Zone   string // of a person: IANA name of their time zone; empty: unknown
	Person bool   // else it is a chat
}

// Directs is a [Platform] that recognizes direct messages by the chat's ID.
type Directs interface {
	// IsDirect reports whether a chat is a direct message with one person.
	IsDirect(chat string) bool
}

// Roster is a [Platform] that knows whom an entry of [Access.Users] means that is not a
// person's ID. Without it, [channels.Anyone] means everybody.
type Roster interface {
	// Includes reports whether [channels.Anyone], or a group with this ID, includes a
	// person. Messages wait for it before they are accepted: it caches what it can.
	Includes(ctx context.Context, entry, person string) (bool, error)
}

// Namer is a [Platform] whose texts refer to people and chats by ID.
type Namer interface {
	// WithNames replaces the IDs with names. It returns a text even with an error.
	WithNames(ctx context.Context, text string) (string, error)
}

// Files is a [Platform] whose messages have files attached.
type Files interface {
	// Describe fills in a file's fields that the delivery omitted.
	Describe(ctx context.Context, f domain.File) (domain.File, error)
	// Fetch opens a file.
	Fetch(ctx context.Context, f domain.File) (io.ReadCloser, error)
}

// Markup is a [Platform] that takes answers to commands in a markup other than Markdown.
type Markup interface {
	// Mention refers to a person.
	Mention(person string) string
	// Escape returns text without any markup.
	Escape(text string) string
}

// Unavailable is the error of an ability that does not work until someone changes
// something, such as a permission. It says why.
type Unavailable string

// Error implements error.
func (u Unavailable) Error() string { return string(u) }

// Unreadable is the error of [Files] for a file that is not available. It follows the
// file's name: "was deleted".
type Unreadable string

// Error implements error.
func (u Unreadable) Error() string { return string(u) }

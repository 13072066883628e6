package channels

import (
	"context"
	"fmt"
)

// RecipientResolver is a [Sender] that can also write to chats from which no message was received.
type RecipientResolver interface {
	// Resolve returns the chat that a person means by to ("#ops", "@ana", or the
	// platform's ID), if that sender may write there too. The error says, for a model to
	// read, why not; failed calls are remote.Errors.
	Resolve(ctx context.Context, sender, to string) (chat string, err error)
}

// Locator is a channel whose chats an operator can name.
type Locator interface {
	// Locate checks the form in which an operator named a chat and, if not empty, a thread,
	// and returns the chat as sessions name it. A [MalformedError] says what is wrong.
	Locate(ctx context.Context, chat, thread string) (string, error)
}

// MalformedError says that a chat or a thread was not named in the platform's form.
type MalformedError struct {
	What  string // "chat" or "thread"
	Value string // empty: missing
	Want  string // the form
}

// Error implements error.
func (e MalformedError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s is missing: must be %s", e.What, e.Want)
	}
	return fmt.Sprintf("%s is %q: must be %s", e.What, e.Value, e.Want)
}

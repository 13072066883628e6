package channels

import (
	"context"
	"fmt"
)

// RecipientResolver is a [Sender] that can also write to chats from which no message was received.
type RecipientResolver interface {
	// Resolve returns the chat that a person means by to ("#ops", "@ana", or the
	// platform's ID), if that sender may write there too. Otherwise the error tells the model
	// why not; failed calls are remote.Errors.
	Resolve(ctx context.Context, sender, to string) (chat string, err error)
}

// Locator is a channel that validates the chat IDs an operator enters.
type Locator interface {
	// Locate validates a chat and, if not empty, a thread, and returns the chat ID as
	// sessions use it, or a [MalformedError].
	Locate(ctx context.Context, chat, thread string) (string, error)
}

// MalformedError reports a chat or thread ID that does not have the platform's format.
type MalformedError struct {
	What  string // "chat" or "thread"
	Value string // empty: missing
	Want  string // expected format
}

// Error implements error.
func (e MalformedError) Error() string {
	if e.Value == "" {
		return fmt.Sprintf("%s is missing: must be %s", e.What, e.Want)
	}
	return fmt.Sprintf("%s is %q: must be %s", e.What, e.Value, e.Want)
}

package channels

import "context"

// RecipientResolver is a [Sender] that can also write to chats from which nobody wrote.
type RecipientResolver interface {
	// Resolve returns the chat that a person means by to ("#ops", "@ana", or the
	// platform's ID), if that sender may write there too. The error says, for a model to
	// read, why not; failed calls are remote.Errors.
	Resolve(ctx context.Context, sender, to string) (chat string, err error)
}

// Locator is a channel whose chats an operator can name.
type Locator interface {
	// IsDirect reports whether a chat is a direct message with one person.
	IsDirect(chat string) bool
	// Locate checks how an operator named a chat and a thread, and returns the chat as
	// sessions name it.
	Locate(ctx context.Context, chat, thread string) (string, error)
}

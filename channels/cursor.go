package channels

import "context"

// Cursors stores how far a receiver has read its platform. It is an optional ability of
// a [Backend].
type Cursors interface {
	// Cursor returns a channel's cursor by name; empty if none was stored.
	Cursor(ctx context.Context, channel, name string) (string, error)
	// SetCursor stores a cursor. It is called after everything before it was accepted.
	SetCursor(ctx context.Context, channel, name, cursor string) error
}

// Store is what the processes of a channel share.
type Store interface {
	Cursors
	// Admit lets a person in, as the operator's approval of a pairing code does.
	Admit(ctx context.Context, channel, sender, name string) error
}

// Stored is a channel that needs a [Store]: for a login, or to answer a message with what
// another process received with it. UseStore is called once, before the channel is used.
type Stored interface{ UseStore(s Store) }

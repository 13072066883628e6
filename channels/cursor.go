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

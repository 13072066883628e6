package starter

import "context"

// Cursor implements [channels.Cursors].
func (s *Starter) Cursor(ctx context.Context, channel, name string) (string, error) {
	return s.o.Store.Cursor(ctx, channel, name)
}

// SetCursor implements [channels.Cursors].
func (s *Starter) SetCursor(ctx context.Context, channel, name, cursor string) error {
	return s.o.Store.SetCursor(ctx, channel, name, cursor)
}

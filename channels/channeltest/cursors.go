package channeltest

import "context"

// Cursor implements [channels.Cursors].
func (b *Backend) Cursor(_ context.Context, channel, name string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cursors[[2]string{channel, name}], nil
}

// SetCursor implements [channels.Cursors].
func (b *Backend) SetCursor(_ context.Context, channel, name, cursor string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cursors[[2]string{channel, name}] = cursor
	b.change()
	return nil
}

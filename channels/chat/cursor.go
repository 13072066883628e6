package chat

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels"
)

// Cursors implements [Inbox].
func (in *inbox) Cursors() Cursors {
	stored, ok := in.backend.(channels.Cursors)
	if !ok {
		return nil
	}
	return cursors{stored, in.platform.Name()}
}

// cursors are the cursors of one channel.
type cursors struct {
	stored  channels.Cursors
	channel string
}

// Read implements [Cursors].
func (c cursors) Read(ctx context.Context, name string) (string, error) {
	return c.stored.Cursor(ctx, c.channel, name)
}

// Store implements [Cursors].
func (c cursors) Store(ctx context.Context, name, cursor string) error {
	if err := c.stored.SetCursor(ctx, c.channel, name, cursor); err != nil {
		return fmt.Errorf("store the cursor %s: %w", name, err)
	}
	return nil
}

package slack

import (
	"context"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// Receive implements [chat.Platform].
func (p *platform) Receive(ctx context.Context, in chat.Inbox) error {
	if p.o.Mode == ModeHTTP {
		return p.webhook.Serve(ctx, in)
	}
	return p.receiveSocket(ctx, in)
}

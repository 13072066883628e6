package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// Outbox delivers replies to one channel. Its exported method is an activity.
type Outbox struct {
	store  *store.Store
	sender channels.Sender
}

// NewOutbox returns the deliveries of the channel that sender sends to.
func NewOutbox(s *store.Store, sender channels.Sender) *Outbox {
	return &Outbox{store: s, sender: sender}
}

// Deliver sends a reply once. The claim is durable before the post: an attempt
// that finds one without an outcome first looks whether the reply is there.
func (o *Outbox) Deliver(ctx context.Context, in protocol.DeliverInput) (protocol.DeliverResult, error) {
	live, done := alive(ctx)
	defer done()
	result, err := o.deliver(live, in)
	return result, undelivered(live, err)
}

func (o *Outbox) deliver(ctx context.Context, in protocol.DeliverInput) (protocol.DeliverResult, error) {
	out, err := o.store.ClaimOutbox(ctx, in.Outbox)
	if err != nil {
		return protocol.DeliverResult{}, fmt.Errorf("claim the reply: %w", err)
	}
	switch out.State {
	case store.OutboxSent:
		return protocol.DeliverResult{PlatformID: out.PlatformID}, nil
	case store.OutboxFailed:
		return protocol.DeliverResult{Gone: true}, nil
	case store.OutboxPending:
	}
	failpoint.Hit("deliver.claimed")
	sent, err := o.send(ctx, out)
	switch {
	case errors.Is(err, channels.ErrGone), hopelessly(err):
		if err := o.store.MarkFailed(ctx, out.ID, out.Fence, err.Error()); err != nil {
			return protocol.DeliverResult{}, fmt.Errorf("record the failed delivery: %w", err)
		}
		return protocol.DeliverResult{Gone: true}, nil
	case refused(err):
		if released := o.store.Release(ctx, out.ID, out.Fence, err.Error()); released != nil {
			return protocol.DeliverResult{}, errors.Join(err, released)
		}
		return protocol.DeliverResult{}, err
	case err != nil:
		return protocol.DeliverResult{}, err
	}
	failpoint.Hit("deliver.sent")
	if err := o.store.MarkSent(ctx, out.ID, out.Fence, sent.PlatformID); err != nil {
		return protocol.DeliverResult{}, fmt.Errorf("record the delivery: %w", err)
	}
	failpoint.Hit("deliver.stored")
	return protocol.DeliverResult{PlatformID: sent.PlatformID}, nil
}

// send posts a reply, unless an earlier attempt that left no word did so.
func (o *Outbox) send(ctx context.Context, out store.Outbound) (channels.Sent, error) {
	msg := channels.OutboundMessage{ID: out.ID, Channel: out.Channel, Chat: out.Chat, Thread: out.Thread, Text: out.Text}
	if finder, ok := o.sender.(channels.Finder); ok && out.Claimed {
		sent, found, err := finder.Find(ctx, msg)
		if err != nil || found {
			return sent, err
		}
	}
	return o.sender.Send(ctx, msg)
}

// refused reports whether the platform answered that it did not post: then there
// is nothing to look for on the next attempt.
func refused(err error) bool {
	failed := remote.As(err)
	return failed != nil && failed.Status != 0 && failed.Status < 500
}

// hopelessly reports whether the platform refused in a way that no other attempt
// cures: the token was revoked, or it does not take the message.
func hopelessly(err error) bool {
	failed := remote.As(err)
	return failed != nil && failed.Permanent()
}

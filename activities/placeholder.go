package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// post sends a message: where that could not be recognized if the answer is lost, as the
// edit of a placeholder that is recorded first.
func (o *Outbox) post(ctx context.Context, out domain.Outbound) (_ channels.Sent, err error) {
	p, ok := o.sender.(channels.Placeholders)
	if !ok {
		return o.sender.Send(ctx, out)
	}
	if out.PlatformID != "" {
		out.Draft, out.Replace = out.PlatformID, false
	} else if out, err = o.placeholder(ctx, p, out); err != nil {
		return channels.Sent{}, err
	}
	sent, err := o.sender.Send(ctx, out)
	if !errors.Is(err, channels.ErrNoDraft) {
		return sent, err
	}
	out.Draft = ""
	if out, err = o.placeholder(ctx, p, out); err != nil {
		return channels.Sent{}, err
	}
	return o.sender.Send(ctx, out)
}

// placeholder posts and records the placeholder of a message, if it needs one.
func (o *Outbox) placeholder(ctx context.Context, p channels.Placeholders, out domain.Outbound) (domain.Outbound, error) {
	id, err := p.Placeholder(ctx, out)
	if err != nil || id == "" {
		return out, err
	}
	if err := o.store.MarkPlaceholder(ctx, out, id); err != nil {
		return out, fmt.Errorf("record the placeholder: %w", err)
	}
	out.PlatformID, out.Draft, out.Replace = id, id, false
	return out, nil
}

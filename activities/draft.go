package activities

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	// draftSettles is how long a draft may take to be posted by who claimed it. After
	// that its poster is dead, and whether it was posted can be looked up.
	draftSettles = 15 * time.Second
	// draftLook is how often we look whether it was.
	draftLook = 100 * time.Millisecond
)

// takeDraft returns where the draft is that the reply takes over, empty if nowhere,
// and whether there was one to look for. From then on nobody else touches it.
func (o *Outbox) takeDraft(ctx context.Context, out domain.Outbound) (platformID string, drafted bool, err error) {
	if out.ID != domain.OutboxID(out.Turn) {
		return "", false, nil
	}
	switch err := o.settleDraft(ctx, out.Turn); {
	case errors.Is(err, domain.ErrNotFound):
		return "", false, nil
	case err != nil:
		return "", false, fmt.Errorf("look for the reply's draft: %w", err)
	}
	draft, err := o.store.TakeDraft(ctx, out.Turn)
	if err != nil || draft.PlatformID != "" {
		return draft.PlatformID, true, err
	}
	finder, ok := o.sender.(channels.Finder)
	if !ok {
		return "", true, nil
	}
	found, err := finder.Find(ctx, channels.OutboundMessage{ID: out.ID, Channel: out.Channel, Chat: out.Chat, Thread: out.Thread})
	if err != nil {
		return "", true, fmt.Errorf("look for the reply's draft: %w", err)
	}
	return found.PlatformID, true, nil
}

// settleDraft waits until it is known where the turn's draft is, or that its poster
// never says.
func (o *Outbox) settleDraft(ctx context.Context, turn string) error {
	look := time.NewTicker(draftLook)
	defer look.Stop()
	for {
		draft, err := o.store.Draft(ctx, turn)
		if err != nil || draft.PlatformID != "" || time.Since(draft.ClaimedAt) > draftSettles {
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

package activities

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// drafts are the drafts in the store: a [channels.Drafts].
type drafts struct{ *store.Store }

// ClaimDraft implements [channels.Drafts].
func (d drafts) ClaimDraft(ctx context.Context, turn string) (bool, error) {
	failpoint.Hit("draft.start")
	claimed, err := d.Store.ClaimDraft(ctx, turn)
	if claimed {
		failpoint.Hit("draft.claimed")
	}
	return claimed, err
}

// PostedDraft implements [channels.Drafts].
func (d drafts) PostedDraft(ctx context.Context, turn, platformID string) (bool, error) {
	failpoint.Hit("draft.posted")
	kept, err := d.Store.PostedDraft(ctx, turn, platformID)
	failpoint.Hit("draft.stored")
	return kept, err
}

// takeDraft marks the turn's draft as taken over by the reply and returns it; drafted is
// false if there is none. A draft whose ID was never recorded is looked up.
func (o *Outbox) takeDraft(ctx context.Context, out domain.Outbound) (draft domain.Draft, drafted bool, err error) {
	if out.ID != domain.OutboxID(out.Turn) {
		return domain.Draft{}, false, nil
	}
	draft, err = o.store.TakeDraft(ctx, out.Turn)
	switch {
	case errors.Is(err, domain.ErrNotFound):
		return domain.Draft{}, false, nil
	case err != nil:
		return domain.Draft{}, false, fmt.Errorf("look for the reply's draft: %w", err)
	}
	finder, ok := o.sender.(channels.Finder)
	if draft.PlatformID != "" || !ok {
		return draft, true, nil
	}
	found, err := finder.Find(ctx, out)
	if err != nil {
		return domain.Draft{}, true, fmt.Errorf("look for the reply's draft: %w", err)
	}
	draft.PlatformID = found.PlatformID
	return draft, true, nil
}

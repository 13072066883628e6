package removal

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// batch is the number of unused sessions per query.
const batch = 100

// RemoveUnused removes idle sessions that were last used before a time, and returns how
// many. It continues with the others if one cannot be removed.
func (r Remover) RemoveUnused(ctx context.Context, before time.Time) (removed int, failed error) {
	for {
		keys, err := r.Store.Unused(ctx, before, batch)
		if err != nil {
			return removed, err
		}
		progress := false
		for _, key := range keys {
			_, err := r.Remove(ctx, key, before)
			switch {
			case errors.Is(err, store.ErrSessionBusy), errors.Is(err, domain.ErrNotFound): // used or removed in the meantime
			case err != nil:
				failed = err
			default:
				removed, progress = removed+1, true
			}
		}
		if !progress {
			return removed, failed
		}
	}
}

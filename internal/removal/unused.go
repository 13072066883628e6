package removal

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// batch is how many unused sessions are looked up at once.
const batch = 100

// RemoveUnused removes the sessions that were last used before a time and have
// nothing to do, and returns how many. One that cannot be removed does not keep the
// others.
func (r Remover) RemoveUnused(ctx context.Context, before time.Time) (removed int, failed error) {
	for {
		keys, err := r.Store.Unused(ctx, before, batch)
		if err != nil {
			return removed, err
		}
		some := false
		for _, key := range keys {
			_, err := r.Remove(ctx, key, before)
			switch {
			case errors.Is(err, store.ErrAtWork), errors.Is(err, domain.ErrNotFound): // used, or removed with its parent, in between
			case err != nil:
				failed = err
			default:
				removed, some = removed+1, true
			}
		}
		if !some {
			return removed, failed
		}
	}
}

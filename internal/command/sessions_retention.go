package command

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/store"
)

const (
	// sessionSweep is how often sessions that nobody uses any more are removed.
	sessionSweep = time.Hour
	// sessionSweepLimit bounds how many are looked for at once.
	sessionSweepLimit = 100
)

// sweepSessions removes sessions that were not used for as long as the config says.
func (n *node) sweepSessions(ctx context.Context) {
	commands, err := openCommands(n.cfg, n.log)
	if err != nil {
		n.log.Warn("old sessions are not removed", "err", err)
		return
	}
	r := remover{store: n.store, workspace: n.cfg.Workspace, commands: commands}
	ticker := time.NewTicker(sessionSweep)
	defer ticker.Stop()
	for {
		removed, err := r.removeUnused(ctx, time.Now().Add(-n.cfg.Store.Retention))
		if removed > 0 {
			n.log.Info("old sessions removed", "sessions", removed)
		}
		if err != nil && ctx.Err() == nil {
			n.log.Warn("old sessions not removed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// removeUnused removes the sessions that were last used before a time and have
// nothing to do, and returns how many. One that cannot be removed does not keep the
// others.
func (r remover) removeUnused(ctx context.Context, before time.Time) (removed int, failed error) {
	for {
		keys, err := r.store.Unused(ctx, before, sessionSweepLimit)
		if err != nil {
			return removed, err
		}
		some := false
		for _, key := range keys {
			_, err := r.remove(ctx, key, before)
			switch {
			case errors.Is(err, store.ErrAtWork), errors.Is(err, store.ErrNotFound): // used, or removed with its parent, in between
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

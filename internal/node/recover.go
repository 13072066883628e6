package node

import (
	"context"
	"fmt"
	"strings"
)

// recover takes over what earlier processes on this home were running. They are dead:
// this process holds the lock on the engine's data.
func (n *Node) recover(ctx context.Context) error {
	if n.Engine == nil {
		return nil
	}
	sessions, err := n.Store.RunningSessions(ctx)
	if err != nil {
		return fmt.Errorf("read unfinished sessions: %w", err)
	}
	ids := make([]string, len(sessions))
	for i, key := range sessions {
		ids[i] = n.Temporal.Names().Session(key)
	}
	ours := identityPrefix(n.Config.DataDir())
	dead := func(identity string) bool { return strings.HasPrefix(identity, ours) && identity != n.Identity }
	failed, err := n.Temporal.Recover(ctx, ids, dead)
	for try := 1; err != nil && ctx.Err() == nil && try < recoverTries; try++ {
		failed, err = n.Temporal.Recover(ctx, ids, dead)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil: // they resume once they time out
		n.log.Warn("activities of the previous process not recovered, they resume after their timeout", "err", err)
	case len(sessions) > 0:
		n.log.Info("resuming unfinished sessions", "sessions", len(sessions), "activities", failed)
	}
	return nil
}

// recoverTries bounds the attempts: an engine that has just started may be slow to
// answer.
const recoverTries = 3

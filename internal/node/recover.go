package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/worker"
)

// recover takes back what our dead predecessors on this home were running. That
// they are dead is certain: we hold the lock on the engine's data.
func (n *Node) recover(ctx context.Context) error {
	if n.Engine == nil {
		return nil
	}
	sessions, err := n.Store.RunningSessions(ctx)
	if err != nil {
		return fmt.Errorf("look for unfinished sessions: %w", err)
	}
	ids := make([]string, len(sessions))
	for i, key := range sessions {
		ids[i] = protocol.WorkflowID(key)
	}
	ours := identityPrefix(n.Config.DataDir())
	options := worker.RecoverOptions{
		Client: n.Client, Namespace: n.Config.Temporal.Namespace, Workflows: ids,
		Dead: func(identity string) bool { return strings.HasPrefix(identity, ours) && identity != n.Identity },
	}
	taken, err := worker.Recover(ctx, options)
	for try := 1; err != nil && ctx.Err() == nil && try < recoverTries; try++ {
		taken, err = worker.Recover(ctx, options)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil: // nothing is lost by it
		n.log.Warn("what the last process was doing goes on only when its time has run out", "err", err)
	case len(sessions) > 0:
		n.log.Info("going on with unfinished sessions", "sessions", len(sessions), "activities", taken)
	}
	return nil
}

// recoverTries is how often an engine that has just started, on a machine that may be
// busy, is asked what it has.
const recoverTries = 3

package node

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/internal/removal"
)

const (
	// commandSweep is the interval between removals of old command files.
	commandSweep = time.Hour
	// commandAge is how long they are kept. It must exceed the 30 days for which a call
	// is retried: an attempt that does not find its command runs it again.
	commandAge = 45 * 24 * time.Hour
)

// sweepCommands removes the files of commands that ended long ago.
func (n *Node) sweepCommands(ctx context.Context) {
	every(ctx, commandSweep, func() {
		if _, err := n.Commands.Sweep(commandAge); err != nil {
			n.log.Warn("old commands not removed", "err", err)
		}
	})
}

// every calls f now and at an interval until ctx ends.
func every(ctx context.Context, interval time.Duration, f func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		f()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// sessionSweep is the interval between removals of unused sessions.
const sessionSweep = time.Hour

// sweepSessions removes sessions that were unused for the configured retention.
func (n *Node) sweepSessions(ctx context.Context) {
	commands, err := OpenCommands(n.Config, n.log)
	if err != nil {
		n.log.Warn("old sessions not removed", "err", err)
		return
	}
	r := removal.Remover{Store: n.Store, Workspace: n.Config.Workspace, Commands: commands}
	every(ctx, sessionSweep, func() {
		removed, err := r.RemoveUnused(ctx, time.Now().Add(-n.Config.Store.Retention))
		if removed > 0 {
			n.log.Info("old sessions removed", "sessions", removed)
		}
		if err != nil && ctx.Err() == nil {
			n.log.Warn("old sessions not removed", "err", err)
		}
	})
}

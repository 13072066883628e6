package node

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/internal/removal"
)

const (
	// commandSweep is how often the files of old commands are removed.
	commandSweep = time.Hour
	// commandAge is how long they are kept: longer than a call is retried, which is
	// 30 days, since an attempt that does not find its command runs it.
	commandAge = 45 * 24 * time.Hour
)

// sweepCommands removes what is left of commands that ended long ago.
func (n *Node) sweepCommands(ctx context.Context) {
	ticker := time.NewTicker(commandSweep)
	defer ticker.Stop()
	for {
		if _, err := n.Commands.Sweep(commandAge); err != nil {
			n.log.Warn("old commands not removed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// sessionSweep is how often sessions that are no longer used are removed.
const sessionSweep = time.Hour

// sweepSessions removes sessions that were not used for as long as the config says.
func (n *Node) sweepSessions(ctx context.Context) {
	commands, err := OpenCommands(n.Config, n.log)
	if err != nil {
		n.log.Warn("old sessions are not removed", "err", err)
		return
	}
	r := removal.Remover{Store: n.Store, Workspace: n.Config.Workspace, Commands: commands}
	ticker := time.NewTicker(sessionSweep)
	defer ticker.Stop()
	for {
		removed, err := r.RemoveUnused(ctx, time.Now().Add(-n.Config.Store.Retention))
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

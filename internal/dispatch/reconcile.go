package dispatch

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/internal/store"
)

const (
	// reconcileInterval is the interval of the passes, and the shortest time after which
	// a message is signalled again.
	reconcileInterval = 5 * time.Second
	// claimTime is how long a process has to itself what it claimed.
	claimTime = 15 * time.Second
	// workflowAge is how old a turn or subagent is before its workflow is looked for: a
	// subagent's workflow starts a moment after its row is stored.
	workflowAge = 30 * time.Second
	// deliveryAge is the age up to which a reply is delivered.
	deliveryAge = 24 * time.Hour
	// claimLimit bounds what a pass claims of each kind.
	claimLimit = 500
)

// Reconcile brings workflows in line with the store until ctx ends. It signals messages
// that no turn consumes, restarts the workflows of turns and subagents that the engine
// has lost, ends turns and subagents whose workflow has closed, and delivers replies whose
// workflow is lost or closed. Several processes may run it concurrently: each claims the
// rows it works on.
func (d *Dispatcher) Reconcile(ctx context.Context) {
	ticker := time.NewTicker(reconcileInterval)
	defer ticker.Stop()
	for scheduled := false; ; {
		if !scheduled {
			scheduled = d.report(ctx, "consolidation not scheduled, retrying", d.ScheduleConsolidation(ctx))
		}
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			d.reconcile(ctx, store.Claim{Before: now.Add(-workflowAge), Due: now, Until: now.Add(claimTime), Limit: claimLimit})
		}
	}
}

// ReconcileAll is a pass over everything, including recent and claimed rows. A process
// calls it when it starts.
func (d *Dispatcher) ReconcileAll(ctx context.Context) {
	now := time.Now()
	d.reconcile(ctx, store.Claim{Before: now, Due: now.AddDate(100, 0, 0), Until: now.Add(claimTime), Limit: claimLimit})
}

// reconcile is one pass. What fails is logged and left to a later pass. Turns come first: a
// run that starts for a reply or message would hide that a turn has lost its own.
func (d *Dispatcher) reconcile(ctx context.Context, claim store.Claim) {
	d.report(ctx, "turns not reconciled", d.reconcileTurns(ctx, claim))
	d.report(ctx, "subagents not reconciled", d.reconcileSubagents(ctx, claim))
	d.report(ctx, "replies not reconciled", d.reconcileReplies(ctx, claim))
	d.report(ctx, "messages not reconciled", d.reconcileMessages(ctx, claim))
}

// report logs an error and reports whether there was none.
func (d *Dispatcher) report(ctx context.Context, message string, err error, args ...any) bool {
	if err != nil && ctx.Err() == nil {
		d.log.Warn("reconciling failed", append(args, "what", message, "err", err)...)
	}
	return err == nil
}

// reconcileMessages signals messages that no turn has consumed for a while: the signal
// failed, or was lost with its workflow. Sessions drop duplicates. The delay doubles with a
// message's age, so one that waits behind a long turn is signalled rarely.
func (d *Dispatcher) reconcileMessages(ctx context.Context, claim store.Claim) error {
	claimed, err := d.store.ClaimMessages(ctx, claim)
	if err != nil {
		return err
	}
	now := time.Now()
	blocked := map[string]bool{} // sessions with a message that could not be signalled
	for _, m := range claimed {
		delay := max(reconcileInterval, now.Sub(m.AcceptedAt))
		if blocked[m.Session] || !d.report(ctx, "message not signalled, retrying", d.SignalAgain(ctx, m), "session", m.Session) {
			delay, blocked[m.Session] = reconcileInterval, true
		}
		d.report(ctx, "signal not rescheduled", d.store.Postpone(ctx, m.ID, now.Add(delay)), "message", m.ID)
	}
	return nil
}

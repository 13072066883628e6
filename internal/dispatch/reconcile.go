package dispatch

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
)

const (
	// reconcileInterval is the interval of the passes, and the shortest time after which
	// a message is signalled again.
	reconcileInterval = 5 * time.Second
	// claimTime is how long a process has to itself what it claimed.
	claimTime = 15 * time.Second
	// lookInterval is the shortest time after which the run of a turn or subagent is looked
	// at again.
	lookInterval = 30 * time.Second
	// workflowAge is how old a turn or subagent is before its workflow is looked for: a
	// subagent's workflow starts a moment after its row is stored.
	workflowAge = 30 * time.Second
	// deliveryAge is the age up to which a reply is delivered.
	deliveryAge = 24 * time.Hour
	// claimLimit bounds the rows of a claim, and so how many runs a pass looks at.
	claimLimit = 200
	// claimWorkers bounds the rows that are worked on at once.
	claimWorkers = 8
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
			d.reconcileRuns(ctx, store.Claim{Before: now.Add(-workflowAge), Due: now, Until: now.Add(lookInterval), Limit: claimLimit})
			d.reconcileWaiting(ctx, store.Claim{Before: now.Add(-workflowAge), Due: now, Until: now.Add(claimTime), Limit: claimLimit})
		}
	}
}

// ReconcileAll is a pass over everything, including recent and claimed rows, and runs of
// which the store knows nothing. A process calls it when it starts.
func (d *Dispatcher) ReconcileAll(ctx context.Context) {
	d.report(ctx, "claims not released", d.store.Unclaim(ctx))
	now := time.Now()
	for d.reconcileRuns(ctx, store.Claim{Before: now, Due: now, Until: now.Add(lookInterval), Limit: claimLimit}) {
	}
	d.reconcileWaiting(ctx, store.Claim{Before: now, Due: now, Until: now.Add(claimTime), Limit: claimLimit})
	d.report(ctx, "runs without work not ended", d.endStray(ctx))
}

// reconcileRuns looks at the runs of one batch of turns and of subagents, those first that
// were looked at least recently. It reports whether there may be more.
func (d *Dispatcher) reconcileRuns(ctx context.Context, claim store.Claim) (more bool) {
	turns := reconcile(ctx, d, claim, d.store.ClaimTurns, func(t domain.Turn) string { return t.Session }, d.reconcileTurns)
	subagents := reconcile(ctx, d, claim, d.store.ClaimSubagents, func(a domain.Subagent) string { return a.Session }, d.reconcileSubagents)
	return turns || subagents
}

// reconcileWaiting works on replies and messages until none is due.
func (d *Dispatcher) reconcileWaiting(ctx context.Context, claim store.Claim) {
	undelivered := func(ctx context.Context, claim store.Claim) ([]domain.Turn, error) {
		return d.store.ClaimUndelivered(ctx, claim, time.Now().Add(-deliveryAge))
	}
	for reconcile(ctx, d, claim, undelivered, func(t domain.Turn) string { return t.Session }, d.reconcileReplies) {
	}
	for reconcile(ctx, d, claim, d.store.ClaimMessages, func(m domain.Inbound) string { return m.Session }, d.reconcileMessages) {
	}
}

// reconcile claims a batch of rows and works on it, one session at a time and several at
// once. What fails is logged and left to a later pass. It reports whether there may be more.
func reconcile[T any](
	ctx context.Context, d *Dispatcher, claim store.Claim,
	next func(context.Context, store.Claim) ([]T, error), session func(T) string, do func(context.Context, []T),
) (more bool) {
	rows, err := next(ctx, claim)
	if !d.report(ctx, "nothing claimed", err) {
		return false
	}
	bySession := map[string][]T{}
	for _, row := range rows {
		bySession[session(row)] = append(bySession[session(row)], row)
	}
	var working errgroup.Group
	working.SetLimit(claimWorkers)
	for _, key := range slices.Sorted(maps.Keys(bySession)) {
		working.Go(func() error {
			do(ctx, bySession[key])
			return nil
		})
	}
	_ = working.Wait()
	return len(rows) == claim.Limit && ctx.Err() == nil
}

// report reports whether there was no error, and logs it unless its kind was logged just now.
func (d *Dispatcher) report(ctx context.Context, message string, err error, args ...any) bool {
	if err != nil && ctx.Err() == nil {
		d.rarely.do(message, func() { d.log.Warn("reconciling failed", append(args, "what", message, "err", err)...) })
	}
	return err == nil
}

// reconcileMessages signals the messages of a session that wait for a turn, since one of
// them has waited for a while: its signal failed, or was lost with its workflow. Sessions
// drop duplicates. The delay doubles with a message's age, so one that waits behind a long
// turn is signalled rarely.
func (d *Dispatcher) reconcileMessages(ctx context.Context, due []domain.Inbound) {
	session, most := due[0].Session, deliveryAge
	last, err := d.signalPending(ctx, session)
	if !d.report(ctx, "messages not signalled, retrying", err, "session", session) {
		last, most = math.MaxInt64, reconcileInterval
	}
	d.report(ctx, "signals not rescheduled", d.store.PostponeAll(ctx, session, last, reconcileInterval, most), "session", session)
}

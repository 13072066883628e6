package dispatch

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/internal/store"
)

const (
	// PresenceInterval is how often a worker shows that it lives, and how often others look.
	PresenceInterval = time.Second
	// PresenceLimit is how long a process may not run and still be sure that others have
	// not taken its activities over: less than silentLooks take.
	PresenceLimit = 3 * time.Second
	// silentLooks is the number of looks in a row without a sign of life after which a
	// worker counts as dead. Looks are counted rather than seconds, so that a process that was
	// itself frozen, or without a store, does not take the others for dead.
	silentLooks = 5
	// forgetLooks is when a dead worker is forgotten: Temporal has ended its polls by then,
	// so it gets no more tasks.
	forgetLooks = 80
)

// Present shows that a worker of this identity lives until ctx ends, and then that it does
// not.
func (d *Dispatcher) Present(ctx context.Context, identity string) {
	ticker := time.NewTicker(PresenceInterval)
	defer ticker.Stop()
	for {
		d.report(ctx, "worker not shown", within(ctx, func(ctx context.Context) error { return d.store.ShowWorker(ctx, identity) }))
		select {
		case <-ticker.C:
		case <-ctx.Done():
			ctx = context.WithoutCancel(ctx)
			d.report(ctx, "worker not removed", within(ctx, func(ctx context.Context) error { return d.store.RemoveWorker(ctx, identity) }))
			return
		}
	}
}

// within bounds a call to the store or to Temporal.
func within(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, PresenceLimit)
	defer cancel()
	return f(ctx)
}

// WatchWorkers takes over from workers that are killed or frozen, until ctx ends. Any number
// of processes may run it.
func (d *Dispatcher) WatchWorkers(ctx context.Context) {
	ticker := time.NewTicker(PresenceInterval)
	defer ticker.Stop()
	signs := map[string]sign{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			workers, err := d.store.Workers(ctx)
			if d.report(ctx, "workers not read", err) {
				signs = d.watch(ctx, signs, workers)
			}
		}
	}
}

// sign is the last sign of life of a worker, and how many looks found no newer one.
type sign struct {
	seen  time.Time
	looks int
}

func (d *Dispatcher) watch(ctx context.Context, before map[string]sign, workers []store.Worker) map[string]sign {
	after := map[string]sign{}
	for _, w := range workers {
		s := sign{seen: w.SeenAt}
		if known, ok := before[w.Identity]; ok && known.seen.Equal(w.SeenAt) {
			s.looks = known.looks + 1
		}
		after[w.Identity] = s
		if s.looks >= silentLooks {
			d.report(ctx, "worker not replaced", d.replace(ctx, w, s.looks), "worker", w.Identity)
		}
	}
	return after
}

// replace gives the activities of a silent worker to others, unless another process does.
// While the worker is silent it is repeated after 5, 10, 20, 40 and 80 looks: Temporal may
// still give it tasks.
func (d *Dispatcher) replace(ctx context.Context, w store.Worker, looks int) error {
	now := time.Now()
	claimed, err := d.store.ClaimWorker(ctx, w, store.Claim{Due: now, Until: now.Add(time.Duration(looks) * PresenceInterval)})
	if err != nil || !claimed {
		return err
	}
	ids, err := d.runningWorkflows(ctx)
	if err != nil {
		return err
	}
	taken, err := d.failActivities(ctx, ids, ofWorker(func(identity string) bool { return identity == w.Identity }))
	if taken > 0 {
		d.log.Warn("took over from a worker that was killed or frozen", "worker", w.Identity, "activities", taken)
	}
	if looks >= forgetLooks && err == nil {
		err = d.store.RemoveWorker(ctx, w.Identity)
	}
	return err
}

// runningWorkflows returns the IDs of the workflows that may have activities.
func (d *Dispatcher) runningWorkflows(ctx context.Context) ([]string, error) {
	sessions, err := d.store.RunningSessions(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(sessions))
	for i, key := range sessions {
		ids[i] = d.names.Session(key)
	}
	return d.withListed(ctx, ids)
}

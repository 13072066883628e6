package chat

import (
	"context"
	"time"
)

// start begins to show the turn, after earlier calls for it have ended, until stop is called.
func (t *turn) start(concluding <-chan struct{}) {
	if t.halted {
		return
	}
	before, done := t.done, make(chan struct{})
	ctx, stop := context.WithCancel(context.Background())
	t.stop, t.done = stop, done
	go func() {
		defer close(done)
		if await(ctx, concluding) {
			await(context.Background(), before) //nolint:contextcheck // the earlier display ends by itself
			t.run(ctx)
		}
	}()
}

// run shows the turn until ctx ends. If the turn is then waiting, it shows for what.
func (t *turn) run(ctx context.Context) {
	for {
		seen := t.progress.look()
		timer := time.NewTimer(min(t.showSigns(ctx, seen), t.showDraft(ctx, seen)))
		select {
		case <-t.progress.changed:
		case <-timer.C:
		case <-ctx.Done():
			if seen := t.progress.look(); seen.parked && !t.isHalted() {
				t.showSigns(ctx, seen)
				t.showDraft(ctx, seen)
			}
			return
		}
		timer.Stop()
	}
}

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
			t.entitle(ctx)
			t.run(ctx)
		}
	}()
}

// titleLimit bounds in runes the title of a conversation.
const titleLimit = 60

// entitle gives the conversation a title if the turn's first message opened it.
func (t *turn) entitle(ctx context.Context) {
	first := t.first()
	if t.o.titles == nil || t.titled || first.Thread == "" || first.Thread != first.PlatformID {
		return
	}
	t.titled = true
	call, cancel := t.o.optional(ctx)
	defer cancel()
	t.note("giving a conversation a title", t.o.titles.Entitle(call, t.place(), oneLine(first.Text, titleLimit)))
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

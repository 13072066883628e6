package chat

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// turn is a turn that this process shows. One goroutine at a time makes the calls.
type turn struct {
	o        *Outbound
	id       string
	reply    string // the outbox ID of its reply
	drafts   channels.Drafts
	began    time.Time
	resumed  bool // another process may have shown something
	progress progress

	// Guarded by the mutex of o.
	inbound []domain.Inbound // that it answers
	users   int              // activities that present it
	used    time.Time
	halted  bool // nothing is shown any more
	stop    context.CancelFunc
	done    chan struct{} // closed while nothing is being shown
	draftID string        // the platform's ID of its draft; empty: unknown or none

	// Of the goroutine.
	signs     signs
	draft     *draft
	draftless bool      // it has no draft and gets none
	rest      time.Time // the draft is left alone until then
}

func newTurn(o *Outbound, p channels.PresentedTurn) *turn {
	t := &turn{
		o: o, id: p.ID, reply: p.Reply, drafts: p.Drafts, began: time.Now(), resumed: p.Resumed, progress: newProgress(),
		stop: func() {}, signs: signs{noticed: map[string]bool{}},
	}
	if p.Text != "" {
		t.progress.add(event.Event{Kind: event.Text, Text: p.Text})
	}
	return t
}

func (t *turn) update(p channels.PresentedTurn) {
	t.used = time.Now()
	if len(p.Messages) > 0 {
		t.inbound = p.Messages
	}
}

// start shows the turn until stop is called, once what was under way before has ended.
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
			await(context.Background(), before)
			t.run(ctx)
		}
	}()
}

// halt ends the showing for good.
func (t *turn) halt() {
	t.halted = true
	t.stop()
}

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

// ending reports whether the activity has ended: then what is shown last is shown at once.
func (t *turn) ending(ctx context.Context) bool { return ctx.Err() != nil }

func (t *turn) isHalted() bool {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	return t.halted
}

func (t *turn) messages() []domain.Inbound {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	return t.inbound
}

func (t *turn) first() domain.Inbound { return t.messages()[0] }

// place is where the turn is shown.
func (t *turn) place() Place { return placeAt(t.first()) }

func placeAt(m domain.Inbound) Place {
	return Place{Chat: m.Chat, Thread: m.Thread, ReplyTo: m.PlatformID, Person: m.Sender}
}

// conversation names where the turn takes place. The mutex of o is held.
func (t *turn) conversation() string { return t.inbound[0].Chat + "/" + t.inbound[0].Thread }

// note logs that something could not be shown. It harms nothing else.
func (t *turn) note(what string, err error) {
	if err != nil {
		t.o.log.Debug("showing progress failed", "turn", t.id, "what", what, "err", err)
	}
}

package chat

import (
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// showSigns updates the turn's indications and returns when to check again.
func (t *turn) showSigns(ctx context.Context, seen snapshot) time.Duration {
	if wait := time.Until(t.began.Add(t.o.pace.Notice)); wait > 0 {
		return wait
	}
	how := t.indicates(ctx)
	if how.State {
		t.markMessages(ctx)
	}
	if how.Text {
		return t.showStatus(ctx, t.statusOf(seen))
	}
	return never
}

// markMessages marks the messages that the turn answers.
func (t *turn) markMessages(ctx context.Context) {
	for _, m := range t.messages() {
		if _, done := t.signs.noticed[m.PlatformID]; !done {
			t.signs.noticed[m.PlatformID] = t.indicate(ctx, m, Indication{State: StateWorking}) == nil
		}
	}
}

// indicates returns how the platform indicates the turn.
func (t *turn) indicates(ctx context.Context) Indicates {
	if t.o.signs == nil || t.signs.asked {
		return t.signs.how
	}
	call, cancel := t.o.optional(ctx)
	defer cancel()
	how, err := t.o.signs.Indicates(call, t.place())
	if err != nil {
		t.note("looking up how to indicate a turn", err)
		return Indicates{}
	}
	t.signs.how, t.signs.asked = how, true
	return how
}

// statusOf returns the text of the status. An edited draft shows it itself.
func (t *turn) statusOf(seen snapshot) string {
	switch {
	case seen.asked: // the question is visible
		return ""
	case t.draft == nil && seen.doing == "":
		return textThinking
	case t.draft != nil && !t.draft.stream:
		return ""
	}
	return seen.doing
}

func (t *turn) showStatus(ctx context.Context, status string) time.Duration {
	again := t.o.pace.Status
	if status == t.signs.status {
		if status == "" || t.signs.how.Lapse == 0 || t.ending(ctx) {
			return never
		}
		again = t.signs.how.Lapse
	}
	if wait := time.Until(t.signs.at.Add(again)); wait > 0 && !t.ending(ctx) {
		return wait
	}
	state := StateWorking
	if status == "" {
		state = StateWaiting
	}
	t.signs.at = time.Now()
	switch err := t.indicate(ctx, t.first(), Indication{State: state, Text: status}); {
	case err == nil:
		t.signs.status = status
	case errors.Is(err, errors.ErrUnsupported): // perhaps there is another way
		t.signs.asked = false
		return 0
	}
	return max(t.signs.how.Lapse, t.o.pace.Status)
}

func (t *turn) indicate(ctx context.Context, m domain.Inbound, what Indication) error {
	call, cancel := t.o.optional(ctx)
	defer cancel()
	err := t.o.signs.Indicate(call, placeAt(m), what)
	t.note("indicating a turn", err)
	return err
}

// endSigns shows that the turn has ended. A posted reply clears the status; a draft that
// becomes the reply does not.
func (t *turn) endSigns(ctx context.Context, failed, replied bool) {
	if !t.resumed && t.signs.status == "" && len(t.signs.noticed) == 0 {
		return
	}
	how := t.indicates(ctx)
	end := Indication{State: StateAnswered}
	if failed {
		end.State = StateFailed
	}
	switch {
	case how.State:
		for _, m := range t.messages() {
			if t.signs.noticed[m.PlatformID] || t.resumed {
				_ = t.indicate(ctx, m, end)
			}
		}
	case how.Text && (t.resumed || t.signs.status != "" && (t.draft != nil || !replied)):
		_ = t.indicate(ctx, t.first(), end)
	}
}

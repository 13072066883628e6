package chat

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/remote"
)

// showDraft updates the draft and returns when to check again.
func (t *turn) showDraft(ctx context.Context, seen snapshot) time.Duration {
	d := t.draft
	if wait := time.Until(t.pauseTill); wait > 0 {
		return wait
	}
	switch {
	case t.draftless || !t.o.drafting || t.o.editor == nil:
		return never
	case d == nil && (seen.asked || t.ending(ctx)):
		return never
	case d == nil:
		if wait := time.Until(t.began.Add(t.o.pace.Draft)); wait > 0 {
			return wait
		}
		return t.makeDraft(ctx, seen)
	case d.frozen, !d.recorded && time.Since(d.claimed) > placing:
		return never
	case d.id == "":
		return t.lookForDraft(ctx)
	case !d.recorded:
		return t.recordDraft(ctx)
	case d.stream:
		return t.growStream(ctx, seen)
	}
	return t.editDraft(ctx, seen)
}

// makeDraft claims and posts a draft, or continues the one that another process made.
func (t *turn) makeDraft(ctx context.Context, seen snapshot) time.Duration {
	if throttled, ok := t.o.p.(Throttled); ok && throttled.Busy(t.place()) {
		return t.later(t.o.pace.Retry)
	}
	call, cancel := t.o.optional(ctx)
	defer cancel()
	claimed, err := t.drafts.ClaimDraft(call, t.id)
	switch {
	case err != nil:
		t.note("claiming a draft", err)
		t.draftless = true
		return never
	case !claimed:
		return t.resumeDraft(call)
	}
	t.draft = &draft{claimed: time.Now()}
	switch err := t.post(ctx, seen); {
	case err == nil:
		return t.posted(ctx)
	case refused(err):
		t.dropDraft(ctx)
		return never
	}
	return t.lookForDraft(ctx)
}

// resumeDraft continues an existing draft.
func (t *turn) resumeDraft(ctx context.Context) time.Duration {
	known, err := t.drafts.Draft(ctx, t.id)
	if err != nil || known.Taken {
		t.draftless = true
		return never
	}
	t.draft = &draft{id: known.PlatformID, claimed: known.ClaimedAt, recorded: known.PlatformID != ""}
	t.know(known.PlatformID)
	return 0
}

// post posts the draft, as a stream if possible; without text where it may be left behind.
func (t *turn) post(ctx context.Context, seen snapshot) (err error) {
	d := t.draft
	if t.canStream(seen) {
		err := t.startStream(ctx)
		if err == nil || !refused(err) {
			d.stream = true
			return err
		}
	}
	shown, at := t.contentOf(seen), time.Now()
	if t.o.placeholders { // it stays if nobody learns its ID: what it says is added once that is recorded
		shown, at = content{doing: textThinking}, time.Time{}
	}
	call, cancel := t.o.optional(ctx)
	defer cancel()
	d.id, err = t.o.p.Post(call, t.place(), t.message(shown))
	t.note("posting a draft", err)
	d.shown, d.at = shown, at
	return err
}

// posted is called once the draft's ID is known.
func (t *turn) posted(ctx context.Context) time.Duration {
	t.signs.status = "" // a post ends the status
	t.know(t.draft.id)
	return t.recordDraft(ctx)
}

// know registers the draft's ID, so that the turn can be found by it.
func (t *turn) know(id string) {
	t.o.mu.Lock()
	defer t.o.mu.Unlock()
	t.draftID = id
}

// lookForDraft looks for a draft whose post got no response. The reply looks for it again.
func (t *turn) lookForDraft(ctx context.Context) time.Duration {
	if t.o.history == nil {
		t.draftless = true
		return never
	}
	call, cancel := t.o.optional(ctx)
	defer cancel()
	d := t.draft
	posted, err := t.o.history.History(call, t.place(), Query{After: d.claimed.Add(-inFlight), ID: t.reply})
	t.note("looking for a draft", err)
	if d.id = findDraft(posted, t.reply, d.stream, t.o.isDraft(t.place().Chat)); d.id == "" {
		return t.later(t.o.pace.Retry)
	}
	return t.posted(ctx)
}

// recordDraft stores the draft's ID. If the reply was sent without the draft, it is removed.
func (t *turn) recordDraft(ctx context.Context) time.Duration {
	call, cancel := t.o.optional(ctx)
	defer cancel()
	wanted, err := t.drafts.PostedDraft(call, t.id, t.draft.id)
	switch {
	case err != nil:
		t.note("recording a draft", err)
		return t.later(t.o.pace.Retry)
	case !wanted:
		t.removeUnwanted(ctx)
		return never
	}
	t.draft.recorded = true
	return 0
}

// removeUnwanted removes the draft, unless the reply found it and has taken its place.
func (t *turn) removeUnwanted(ctx context.Context) {
	t.draftless = true
	call, cancel := t.o.optional(ctx)
	defer cancel()
	if t.o.history != nil {
		posted, err := t.o.history.History(call, t.place(), Query{After: t.draft.claimed.Add(-inFlight), ID: t.reply})
		t.note("looking at a draft", err)
		if err != nil || find(posted, t.reply).PlatformID == t.draft.id && find(posted, t.reply).Posted {
			return
		}
	}
	if err := t.o.editor.Delete(call, t.place(), t.draft.id); err != nil {
		t.note("removing a draft", err)
		return
	}
	t.know("")
	t.note("dropping a draft", t.drafts.DropDraft(call, t.id))
}

// dropDraft forgets a draft that was definitely not posted.
func (t *turn) dropDraft(ctx context.Context) {
	call, cancel := t.o.optional(ctx)
	defer cancel()
	t.note("dropping a draft", t.drafts.DropDraft(call, t.id))
	t.draft, t.draftless = nil, true
}

// editDraft updates the draft, at most as often as the pace allows.
func (t *turn) editDraft(ctx context.Context, seen snapshot) time.Duration {
	d, shown := t.draft, t.contentOf(seen)
	if shown == d.shown {
		return never
	}
	if wait := time.Until(d.at.Add(t.o.pace.Edit * time.Duration(t.o.shown()))); wait > 0 && !t.ending(ctx) {
		return wait
	}
	call, cancel := t.o.optional(ctx)
	defer cancel()
	err := t.o.editor.Edit(call, t.place(), d.id, t.message(shown))
	t.note("editing a draft", err)
	d.at = time.Now()
	switch failed := remote.As(err); {
	case err == nil:
		d.shown = shown
	case !refused(err):
		d.lost = time.Now()
	case errors.Is(err, ErrNoMessage), failed != nil && failed.Permanent():
		d.frozen = true
	}
	return 0
}

func (t *turn) contentOf(seen snapshot) content {
	shown := content{text: lastRunes(strings.TrimSpace(seen.text), t.draftLimit()), doing: seen.doing}
	if shown.text == "" && shown.doing == "" {
		shown.doing = textThinking
	}
	return shown
}

// lastRunes returns the end of a text, n runes at most.
func lastRunes(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return "…" + string(runes[len(runes)-n:])
}

// message returns the draft as a message for the platform.
func (t *turn) message(shown content) Message {
	stop := Button{Action: ActionStop, Value: t.first().Thread, Label: "Stop"}
	return Message{ID: t.reply, Draft: true, Part: 1, Text: shown.text, Note: shown.doing, Buttons: []Button{stop}}
}

package chat

import (
	"context"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// Present implements [channels.Presenter].
func (o *Outbound) Present(p channels.PresentedTurn) {
	if len(p.Messages) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.turns[p.ID]
	if t == nil {
		if len(o.turns) >= maxPresented && !o.forget() {
			return
		}
		t = newTurn(o.output, p)
		o.add(t)
	}
	t.update(p)
	if t.users++; t.users == 1 {
		t.start(o.concluding[t.conversation()])
	}
}

// forget drops the turn that has been idle for longest, and reports whether there was one.
func (o *Outbound) forget() bool {
	var oldest *turn
	for _, t := range o.turns {
		if t.users == 0 && (oldest == nil || t.used.Before(oldest.used)) {
			oldest = t
		}
	}
	if oldest != nil {
		o.remove(oldest.id)
	}
	return oldest != nil
}

// Show implements [channels.Presenter].
func (o *Outbound) Show(id string, e event.Event) {
	o.mu.Lock()
	t := o.turns[id]
	o.mu.Unlock()
	if t != nil {
		t.progress.add(e)
	}
}

// Pause implements [channels.Presenter].
func (o *Outbound) Pause(ctx context.Context, id string) {
	o.mu.Lock()
	t := o.turns[id]
	if t == nil || t.users == 0 {
		o.mu.Unlock()
		return
	}
	if t.users--; t.users > 0 {
		o.mu.Unlock()
		return
	}
	t.stop()
	done := t.done
	o.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, pauseGrace)
	defer cancel()
	await(ctx, done)
}

// Conclude implements [channels.Presenter].
func (o *Outbound) Conclude(p channels.PresentedTurn, failed, replied bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.turns[p.ID]
	o.remove(p.ID)
	if t == nil {
		p.Resumed = true
		t = newTurn(o.output, p)
	}
	t.update(p)
	t.halt()
	if o.signs == nil || len(t.inbound) == 0 {
		return
	}
	conversation := t.conversation()
	before, concluded := o.concluding[conversation], make(chan struct{})
	o.concluding[conversation] = concluded
	go func() {
		ctx := context.Background()
		await(ctx, t.done)
		await(ctx, before)
		t.endSigns(ctx, failed, replied)
		o.mu.Lock()
		defer o.mu.Unlock()
		close(concluded)
		if o.concluding[conversation] == concluded {
			delete(o.concluding, conversation)
		}
	}()
}

// Discard implements [channels.Presenter].
func (o *Outbound) Discard(ctx context.Context, d domain.Draft) error {
	if o.editor == nil {
		return nil
	}
	at := Place{Chat: d.Chat, Thread: d.Thread}
	id, err := o.idOf(ctx, d)
	if err != nil {
		return err
	}
	if id == "" {
		return nil
	}
	if _, err := o.takeOver(ctx, d.Chat, id); err != nil {
		return err
	}
	return o.editor.Delete(ctx, at, id)
}

// idOf returns the platform's ID of a draft; empty if it is not there. One that was not
// recorded is looked for.
func (o *Outbound) idOf(ctx context.Context, d domain.Draft) (string, error) {
	if d.PlatformID != "" || o.history == nil {
		return d.PlatformID, nil
	}
	query := Query{After: d.ClaimedAt.Add(-inFlight), Before: d.ClaimedAt.Add(inFlight), ID: d.Reply()}
	posted, err := o.history.History(ctx, Place{Chat: d.Chat, Thread: d.Thread}, query)
	if err != nil {
		return "", err
	}
	return findDraft(posted, d.Reply(), o.stream != nil, o.isDraft(d.Chat)), nil
}

// takeOver ends the changes of a draft by this process: it waits for one that is under
// way. It reports whether an edit that was not answered may still take effect.
func (o *Outbound) takeOver(ctx context.Context, chat, draft string) (unsettled bool, err error) {
	o.mu.Lock()
	t := o.withDraft(chat, draft)
	if t == nil {
		o.mu.Unlock()
		return false, nil
	}
	t.halt()
	done := t.done
	o.mu.Unlock()
	if !await(ctx, done) {
		return false, ctx.Err()
	}
	return t.draft.unsettled(), nil
}

// Wait implements [channels.Presenter].
func (o *Outbound) Wait(ctx context.Context) {
	for {
		o.mu.Lock()
		var next chan struct{}
		for _, next = range o.concluding {
			break
		}
		o.mu.Unlock()
		if next == nil || !await(ctx, next) {
			return
		}
	}
}

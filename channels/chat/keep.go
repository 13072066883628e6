package chat

import (
	"context"
	"errors"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// keptSuffix makes the outbox ID of a reply that of what was kept of its draft: the reply
// itself may still be posted, and must not be mistaken for it.
const keptSuffix = ".kept"

// Keep implements [channels.Keeper].
func (o *Outbound) Keep(ctx context.Context, d domain.Draft, note string) (kept bool, err error) {
	if o.editor == nil {
		return false, nil
	}
	id, err := o.idOf(ctx, d)
	if err != nil || id == "" {
		return false, err
	}
	written, kept, err := o.written(ctx, d, id)
	if err != nil || kept || written == "" {
		return kept, err
	}
	err = o.editor.Edit(ctx, Place{Chat: d.Chat, Thread: d.Thread}, id, Message{
		ID: d.Reply() + keptSuffix, Part: 1, Text: o.limits.beginning(written), Note: note,
	})
	if errors.Is(err, ErrNoMessage) {
		return false, nil
	}
	return err == nil, err
}

// written returns what was written of a draft's reply, as this process knows it or else as
// the chat shows it. It reports whether the draft was kept before.
func (o *Outbound) written(ctx context.Context, d domain.Draft, id string) (text string, kept bool, err error) {
	o.mu.Lock()
	t := o.withDraft(d.Chat, id)
	o.mu.Unlock()
	if t != nil {
		_, err := o.takeOver(ctx, d.Chat, id)
		return strings.TrimSpace(t.progress.look().text), false, err
	}
	if o.history == nil {
		return "", false, nil
	}
	posted, err := o.history.History(ctx, Place{Chat: d.Chat, Thread: d.Thread}, Query{After: d.ClaimedAt.Add(-inFlight)})
	if err != nil {
		return "", false, err
	}
	for _, p := range posted {
		switch {
		case p.ID != id:
		case p.Message == d.Reply()+keptSuffix:
			return "", true, nil
		case p.Written, p.Message == "" && !p.Empty: // a stream has no ID of ours
			return p.Text, false, nil
		}
	}
	return "", false, nil
}

// beginning returns as much of a text as one message holds.
func (l Limits) beginning(text string) string {
	if l.fits(text) {
		return text
	}
	for limit := l.Text; limit > leastPart; limit /= 2 {
		if part := markdown.Split(text, limit-1)[0] + "…"; l.fits(part) {
			return part
		}
	}
	return ""
}

package activities

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// publish tells those who watch a turn what happens to it: clients of the event bus, and
// the chat that it came from.
func (a *Agent) publish(ctx context.Context, session domain.SessionRef, turn string, e event.Event) {
	a.Events.Publish(ctx, turn, e)
	if p := a.Channels.Outboxes[session.Channel].presenter(); p != nil {
		p.Show(turn, e)
	}
}

// present has a turn shown in its chat until pause is called.
func (a *Agent) present(session domain.SessionRef, t channels.PresentedTurn) (pause func(context.Context)) {
	outbox := a.Channels.Outboxes[session.Channel]
	p := outbox.presenter()
	if p == nil {
		return func(context.Context) {}
	}
	p.Present(outbox.presented(t))
	return func(ctx context.Context) { p.Pause(ctx, t.ID) }
}

// presenter returns what shows turns on the channel; nil if nothing does.
func (o *Outbox) presenter() channels.Presenter {
	if o == nil {
		return nil
	}
	p, _ := o.sender.(channels.Presenter)
	return p
}

// presented completes a turn for a presenter. It answers the messages that people wrote
// on the channel.
func (o *Outbox) presented(t channels.PresentedTurn) channels.PresentedTurn {
	var written []domain.Inbound
	for _, m := range t.Messages {
		if m.Push && m.Job == "" && m.Child == "" {
			written = append(written, m)
		}
	}
	t.Messages, t.Reply, t.Drafts = written, domain.OutboxID(t.ID), drafts{o.store}
	return t
}

// presentStep is present for a step that may have begun in another process.
func (a *Agent) presentStep(ctx context.Context, session domain.SessionRef, turn, text string) (pause func(context.Context)) {
	if a.Channels.Outboxes[session.Channel].presenter() == nil {
		return func(context.Context) {}
	}
	messages, err := a.Store.Consumed(ctx, turn)
	if err != nil { // the step itself will say so
		return func(context.Context) {}
	}
	return a.present(session, channels.PresentedTurn{ID: turn, Messages: messages, Text: text, Resumed: true})
}

// conclude shows in its chat that a turn has ended, and removes a draft that no reply
// takes over. What fails is left to [Outbox.Sweep].
func (o *Outbox) conclude(ctx context.Context, id string) {
	p := o.presenter()
	if p == nil {
		return
	}
	turn, err := o.store.Turn(ctx, id)
	if err != nil {
		return
	}
	messages, err := o.store.Consumed(ctx, id)
	if err != nil {
		return
	}
	p.Conclude(o.presented(channels.PresentedTurn{ID: id, Messages: messages}), turn.Status != domain.TurnDone, turn.Outbox != "")
	if turn.Outbox != "" {
		return
	}
	if draft, err := o.store.TakeDraft(ctx, id); err == nil { // one that is being posted is then removed by who posts it
		_ = o.discard(ctx, draft)
	}
}

// discardTimeout bounds the removal of one draft.
const discardTimeout = 5 * time.Second

// discard removes a draft. That of a stopped turn stays if it shows something of the reply.
func (o *Outbox) discard(ctx context.Context, d domain.Draft) error {
	ctx, cancel := context.WithTimeout(ctx, discardTimeout)
	defer cancel()
	kept, err := o.keepStopped(ctx, d)
	if err != nil {
		return err
	}
	if !kept {
		if err := o.presenter().Discard(ctx, d); err != nil {
			return err
		}
	}
	return o.store.DropDraft(ctx, d.Turn)
}

// stoppedNote marks what was written of a reply until its turn was stopped.
const stoppedNote = "Stopped"

// keepStopped leaves in the chat what the draft of a stopped turn shows of its reply, and
// reports whether it did.
func (o *Outbox) keepStopped(ctx context.Context, d domain.Draft) (kept bool, err error) {
	keeper, ok := o.sender.(channels.Keeper)
	if !ok || !d.Replace { // that of a stopped turn is
		return false, nil
	}
	turn, err := o.store.Turn(ctx, d.Turn)
	if err != nil || turn.Status != domain.TurnStopped {
		return false, err
	}
	return keeper.Keep(ctx, d, stoppedNote)
}

// Sweep removes the drafts of the channel that no reply will take over, such as those
// that a crash left behind. Failures are retried by the next sweep.
func (o *Outbox) Sweep(ctx context.Context, channel string) error {
	if o.presenter() == nil {
		return nil
	}
	stale, err := o.store.StaleDrafts(ctx, channel)
	if err != nil {
		return err
	}
	for _, d := range stale {
		if failed := o.discard(ctx, d); failed != nil {
			err = failed
		}
	}
	return err
}

// Wait waits until the indications of ended turns are up to date, or ctx ends.
func (o *Outbox) Wait(ctx context.Context) {
	if p := o.presenter(); p != nil {
		p.Wait(ctx)
	}
}

package platformtest

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// This file has the channel as a process uses it: until the process dies.

// Send implements [channels.Sender].
func (p *process) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	if p.reach(Claimed) {
		return channels.Sent{}, errDied
	}
	sent, err := p.channel.Send(ctx, msg)
	if p.isDead() || err == nil && p.reach(Posted) {
		return channels.Sent{}, errDied
	}
	return sent, err
}

// Find implements [channels.Finder].
func (p *process) Find(ctx context.Context, msg domain.Outbound) (channels.Found, error) {
	if p.isDead() {
		return channels.Found{}, errDied
	}
	return p.channel.Find(ctx, msg)
}

// KeyLasts implements [channels.Keyed].
func (p *process) KeyLasts() time.Duration { return p.channel.KeyLasts() }

// Placeholder implements [channels.Placeholders].
func (p *process) Placeholder(ctx context.Context, msg domain.Outbound) (string, error) {
	if p.isDead() {
		return "", errDied
	}
	id, err := p.channel.Placeholder(ctx, msg)
	if p.isDead() || err == nil && id != "" && p.reach(Placed) {
		return "", errDied
	}
	return id, err
}

// Split implements [channels.Splitter].
func (p *process) Split(text string) []domain.Part { return p.channel.Split(text) }

// Present implements [channels.Presenter].
func (p *process) Present(t channels.PresentedTurn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead {
		return
	}
	p.shown[t.ID] = true
	t.Drafts = drafts{t.Drafts, p}
	p.channel.Present(t)
}

// Show implements [channels.Presenter].
func (p *process) Show(turn string, e event.Event) {
	if !p.isDead() {
		p.channel.Show(turn, e)
	}
}

// Pause implements [channels.Presenter].
func (p *process) Pause(ctx context.Context, turn string) { p.channel.Pause(ctx, turn) }

// Conclude implements [channels.Presenter].
func (p *process) Conclude(t channels.PresentedTurn, failed, replied bool) {
	if !p.isDead() {
		p.channel.Conclude(t, failed, replied)
	}
}

// Discard implements [channels.Presenter].
func (p *process) Discard(ctx context.Context, d domain.Draft) error {
	if p.isDead() {
		return errDied
	}
	return p.channel.Discard(ctx, d)
}

// Wait implements [channels.Presenter].
func (p *process) Wait(ctx context.Context) { p.channel.Wait(ctx) }

// CloseQuestion implements [channels.Questioner].
func (p *process) CloseQuestion(ctx context.Context, question domain.Outbound, outcome string) (bool, error) {
	if p.isDead() {
		return false, errDied
	}
	return p.channel.CloseQuestion(ctx, question, outcome)
}

// TellSender implements [channels.Questioner].
func (p *process) TellSender(ctx context.Context, to domain.Inbound, text string) error {
	if p.isDead() {
		return errDied
	}
	return p.channel.TellSender(ctx, to, text)
}

// Resolve implements [channels.RecipientResolver].
func (p *process) Resolve(ctx context.Context, sender, to string) (string, error) {
	return p.channel.Resolve(ctx, sender, to)
}

// Enrich implements [channels.Enricher].
func (p *process) Enrich(ctx context.Context, e channels.Enrichment) (channels.Enriched, error) {
	if p.isDead() {
		return channels.Enriched{}, errDied
	}
	return p.channel.Enrich(ctx, e)
}

// drafts are the drafts of a process.
type drafts struct {
	channels.Drafts
	p *process
}

// PostedDraft implements [channels.Drafts].
func (d drafts) PostedDraft(ctx context.Context, turn, id string) (bool, error) {
	if d.p.reach(Drafted) {
		return false, errDied
	}
	kept, err := d.Drafts.PostedDraft(ctx, turn, id)
	if err == nil && d.p.reach(DraftRecorded) {
		return false, errDied
	}
	return kept, err
}

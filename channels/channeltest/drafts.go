package channeltest

import (
	"context"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// draft is what the backend knows of a turn's draft.
type draft struct {
	claimed    time.Time
	platformID string
	taken      bool // the reply went out
}

// Known implements [channels.Requests].
func (b *Backend) Known(_ context.Context, channel, chat, thread string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, msg := range b.accepted {
		if msg.Channel == channel && msg.Chat == chat && msg.Thread == thread {
			return true, nil
		}
	}
	return false, nil
}

// Unanswered implements [channels.Requests].
func (b *Backend) Unanswered(_ context.Context, channel string) ([]domain.Inbound, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var waiting []domain.Inbound
	for _, msg := range b.accepted {
		id := b.MessageID(msg.Channel, msg.Scope, msg.PlatformID)
		if msg.Channel == channel && !b.messages[id].state.Status.Ended() {
			msg.ID = id
			waiting = append(waiting, msg)
		}
	}
	return waiting, nil
}

// Paired implements [channels.Pairing].
func (b *Backend) Paired(_ context.Context, channel, sender string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paired[[2]string{channel, sender}], nil
}

// Pair implements [channels.Pairing]. The code is "PAIR-" and the sender.
func (b *Backend) Pair(_ context.Context, _, sender, _ string) (string, error) {
	return "PAIR-" + sender, nil
}

// Approve lets a sender in, as an operator would.
func (b *Backend) Approve(channel, sender string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paired[[2]string{channel, sender}] = true
}

// ClaimDraft implements [channels.Drafts].
func (b *Backend) ClaimDraft(_ context.Context, message string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.messages[message]
	if m == nil || m.state.Status.Ended() || b.drafts[message] != nil {
		return "", nil
	}
	b.drafts[message] = &draft{claimed: time.Now()}
	b.change()
	return "o-" + message, nil
}

// PostedDraft implements [channels.Drafts].
func (b *Backend) PostedDraft(_ context.Context, message, platformID string) (bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.drafts[message]
	if d == nil || d.taken {
		return false, nil
	}
	d.platformID = platformID
	b.change()
	return true, nil
}

// DropDraft implements [channels.Drafts].
func (b *Backend) DropDraft(_ context.Context, message string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.drafts, message)
	b.change()
	return nil
}

// StaleDrafts implements [channels.Drafts]: those of ended messages that
// [Backend.TakeDraft] did not take.
func (b *Backend) StaleDrafts(_ context.Context, channel string) ([]channels.Draft, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var stale []channels.Draft
	for id, d := range b.drafts {
		m := b.messages[id]
		if m.inbound.Channel != channel || d.taken || !m.state.Status.Ended() {
			continue
		}
		stale = append(stale, channels.Draft{
			Message: id, Reply: "o-" + id, PlatformID: d.platformID, Chat: m.inbound.Chat, Thread: m.inbound.Thread, ClaimedAt: d.claimed,
		})
	}
	return stale, nil
}

// TakeDraft has a reply take over the message's draft, and returns where that is;
// empty if there is none.
func (b *Backend) TakeDraft(message string) (platformID string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.drafts[message]
	if d == nil {
		d = &draft{}
		b.drafts[message] = d
	}
	d.taken = true
	b.change()
	return d.platformID
}

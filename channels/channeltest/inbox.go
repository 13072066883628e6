package channeltest

import (
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

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

// Approve pairs a sender, as an operator would.
func (b *Backend) Approve(channel, sender string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.paired[[2]string{channel, sender}] = true
}

// Admit implements [channels.Store].
func (b *Backend) Admit(_ context.Context, channel, sender, _ string) error {
	b.Approve(channel, sender)
	return nil
}

package channeltest

import (
	"context"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Home implements [channels.Homes]. It fails like Accept. Approvals that a message
// answered are left out.
func (b *Backend) Home(_ context.Context, channel, person string) (domain.Home, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failing > 0 {
		b.failing--
		return domain.Home{}, ErrAway
	}
	home := b.homes[[2]string{channel, person}]
	home.Approvals = slices.DeleteFunc(slices.Clone(home.Approvals), func(a domain.Approval) bool {
		return slices.ContainsFunc(b.accepted, func(m domain.Inbound) bool {
			_, id := domain.ParseAnswer(m.Text)
			return id == a.ID
		})
	})
	return home, nil
}

// SetHome sets what the page of a person shows.
func (b *Backend) SetHome(channel, person string, home domain.Home) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.homes == nil {
		b.homes = map[[2]string]domain.Home{}
	}
	b.homes[[2]string{channel, person}] = home
}

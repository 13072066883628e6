package channeltest

import (
	"context"
	"slices"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Rate implements [channels.Ratings]. It keeps all ratings, and fails like Accept.
func (b *Backend) Rate(_ context.Context, r domain.Rating) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failing > 0 {
		b.failing--
		return ErrAway
	}
	b.ratings = append(b.ratings, r)
	b.change()
	return nil
}

// Ratings returns the ratings, in the order in which they were stored.
func (b *Backend) Ratings() []domain.Rating {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.ratings)
}

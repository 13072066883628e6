package starter

import (
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Rate implements [channels.Ratings].
func (s *Starter) Rate(ctx context.Context, r domain.Rating) error {
	changed, err := s.o.Store.Rate(ctx, r)
	if changed {
		s.o.Metrics.Rated(r)
	}
	return err
}

package store

import (
	"context"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Prompt returns the system prompt that the model was given in a turn. ErrNotFound
// if there is no such turn, or the model was not asked in it.
func (s *Store) Prompt(ctx context.Context, turn string) (text string, err error) {
	err = s.read("read prompt of "+turn, func(q *runner) error {
		var found bool
		text, found, err = one(ctx, q, scanText, `SELECT prompts.content FROM turns JOIN prompts ON prompts.hash = turns.prompt
			WHERE turns.id = $1`, turn)
		if err == nil && !found {
			return domain.ErrNotFound
		}
		return err
	})
	return text, err
}

package store

import (
	"context"
)

// Prompt returns the system prompt that the model was given in a turn. ErrNotFound
// if there is no such turn, or the model was not asked in it.
func (s *Store) Prompt(ctx context.Context, turn string) (string, error) {
	return get(ctx, s, "read prompt of "+turn, scanText, `SELECT prompts.content FROM turns JOIN prompts ON prompts.hash = turns.prompt
		WHERE turns.id = $1`, turn)
}

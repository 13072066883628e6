package store

import (
	"context"
)

// Prompt returns the system prompt of a turn. ErrNotFound if the turn does not exist or
// made no model call.
func (s *Store) Prompt(ctx context.Context, turn string) (string, error) {
	return get(ctx, s, "read prompt of "+turn, scanText, `SELECT prompts.content FROM turns JOIN prompts ON prompts.hash = turns.prompt
		WHERE turns.id = $1`, turn)
}

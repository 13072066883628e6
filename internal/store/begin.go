package store

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Begin prepares a step: it creates the turn if necessary, consumes the step's messages
// and adds them to the transcript. Messages that another turn consumed stay there; if
// all of them did and the turn does not exist, it is not created and Answered is set.
// An ended turn is not changed. ErrNotFound for a message that was never accepted, and
// for a turn that does not exist if no messages are given. The commit that creates a turn
// is asynchronous: if it is lost, the turn's next write fails with ErrNotFound.
func (s *Store) Begin(ctx context.Context, in BeginInput) (begun domain.Step, err error) {
	doing := fmt.Sprintf("begin %s step %d", in.Turn, in.Step)
	var got taken
	if len(in.Messages) > 0 {
		mode := syncCommit
		if in.Step == 1 {
			mode = asyncCommit
		}
		err = s.write(ctx, doing, mode, func(tx *runner) error {
			got, err = tx.take(ctx, in)
			return err
		})
		if err != nil {
			return domain.Step{}, err
		}
	}
	// Earlier messages no longer change, and reading them takes longest:
	// other writers need not wait for that.
	err = s.read(doing, func(q *runner) error {
		switch {
		case got.other != "" && got.turn.ID == "":
			other, err := q.turn(ctx, got.other, "")
			begun = domain.Step{Turn: other.Turn, Answered: true}
			return err
		case got.turn.ID == "":
			if got.turn, err = q.turn(ctx, in.Turn, ""); err != nil {
				return err
			}
			if got.rows, err = q.messages(ctx, in.Turn); err != nil {
				return err
			}
		}
		begun, err = q.begun(ctx, got, in)
		return err
	})
	return begun, err
}

// begun adds the history.
func (r *runner) begun(ctx context.Context, got taken, in BeginInput) (domain.Step, error) {
	history, err := r.earlier(ctx, got.turn, in.Window)
	if err != nil {
		return domain.Step{}, err
	}
	if got.inbound == nil {
		if got.inbound, err = r.consumed(ctx, got.turn.ID); err != nil {
			return domain.Step{}, err
		}
	}
	begun := domain.Step{Turn: got.turn.Turn, History: append(history, got.rows...), Inbound: got.inbound}
	if got.turn.prompt != "" {
		if begun.Prompt, err = r.promptText(ctx, got.turn.prompt); err != nil {
			return domain.Step{}, err
		}
	}
	for _, m := range got.rows {
		if m.Step == in.Step && m.Role == domain.RoleAssistant {
			begun.Completion = &m
		}
	}
	return begun, nil
}

// promptText returns the system prompt with that hash.
func (r *runner) promptText(ctx context.Context, hash string) (string, error) {
	text, _, err := one(ctx, r, scanText, `SELECT content FROM prompts WHERE hash = $1`, hash)
	return text, err
}

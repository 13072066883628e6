package store

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/internal/llm"
)

// Begin makes true what holds when a step starts: the turn is there, and the
// messages that the step takes in are consumed and have a row in the transcript.
// It returns the turn as it is then. Messages that another turn consumed stay
// with it. If the turn is not there and none of the messages is left for it,
// nothing is made and Answered is set. An ended turn is not changed. ErrNotFound
// for a message that was never accepted, and for a turn that is not there when
// no message is given. Relaxed: whatever is saved for the turn later makes it last.
func (s *Store) Begin(ctx context.Context, in BeginInput) (begun Begun, err error) {
	doing := fmt.Sprintf("begin %s step %d", in.Turn, in.Step)
	if len(in.Messages) == 0 {
		err = s.read(ctx, doing, func(q *runner) error {
			t, err := q.turn(ctx, in.Turn, "")
			if err != nil {
				return err
			}
			rows, err := q.messages(ctx, t.ID)
			if err != nil {
				return err
			}
			begun, err = q.begun(ctx, taken{turn: t, rows: rows}, in)
			return err
		})
		return begun, err
	}
	err = s.write(ctx, doing, relaxed, func(tx *runner) error {
		got, err := tx.take(ctx, in)
		if err != nil {
			return err
		}
		if got.turn.ID == "" {
			other, err := tx.turn(ctx, got.other, "")
			begun = Begun{Turn: other.Turn, Answered: true}
			return err
		}
		begun, err = tx.begun(ctx, got, in)
		return err
	})
	return begun, err
}

func (r *runner) begun(ctx context.Context, got taken, in BeginInput) (Begun, error) {
	history, err := r.earlier(ctx, got.turn, in.Window)
	if err != nil {
		return Begun{}, err
	}
	inbound, err := r.consumed(ctx, got.turn.ID)
	if err != nil {
		return Begun{}, err
	}
	begun := Begun{Turn: got.turn.Turn, History: append(history, got.rows...), Inbound: inbound}
	for _, m := range got.rows {
		if m.Step == in.Step && m.Role == llm.RoleAssistant {
			begun.Completion = &m
		}
	}
	return begun, nil
}

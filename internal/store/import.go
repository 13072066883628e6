package store

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// ErrNotEmpty reports a session that already has turns.
var ErrNotEmpty = errors.New("the session has turns already")

// Import is a conversation from another system.
type Import struct {
	Session   string
	Route     domain.Route // of the session; Sender is not used
	CreatedAt time.Time
	Turns     []ImportTurn // oldest first
	Append    bool         // to the session's other turns, if it has any
}

// ImportTurn is a turn from another system.
type ImportTurn struct {
	ID       string
	Scope    string           // the memory scope it belongs to; empty: none
	Past     bool             // memory has taken it in: the model is not shown it again
	Messages []domain.Message // in order, with CreatedAt; each call has one result
}

// Import stores turns, as ones that are done, that are not there yet, and returns
// how many. ErrNotEmpty if the session has other turns and they are not to be
// appended, ErrSessionBusy if it has something to do.
func (s *Store) Import(ctx context.Context, in Import) (added int, err error) {
	missing, err := s.missing(ctx, in.Turns)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	err = s.write(ctx, "import into "+in.Session, syncCommit, func(tx *runner) error {
		epoch, err := tx.touchSession(ctx, in.Session, in.Route.Channel)
		if err != nil {
			return err
		}
		if err := tx.atRest(ctx, in.Session, time.Time{}); err != nil {
			return err
		}
		// Another import may have come before.
		if missing, err = tx.missing(ctx, in.Turns); err != nil {
			return err
		}
		there, _, err := one(ctx, tx, scanCount, `SELECT COUNT(*) FROM turns WHERE session = $1`, in.Session)
		if err != nil {
			return err
		}
		if others := there - (len(in.Turns) - len(missing)); others > 0 && !in.Append {
			return ErrNotEmpty
		}
		if there == 0 && !in.CreatedAt.IsZero() {
			if _, err := tx.exec(ctx, `UPDATE sessions SET created_at = $2 WHERE key = $1 AND created_at > $2`, in.Session, in.CreatedAt); err != nil {
				return err
			}
		}
		return tx.importTurns(ctx, in, missing, epoch)
	})
	if err != nil {
		return 0, err
	}
	return len(missing), nil
}

func (s *Store) missing(ctx context.Context, turns []ImportTurn) ([]ImportTurn, error) {
	return reading(s, "look for imported turns", func(q *runner) ([]ImportTurn, error) { return q.missing(ctx, turns) })
}

// missing returns the turns that do not exist yet.
func (r *runner) missing(ctx context.Context, turns []ImportTurn) (missing []ImportTurn, err error) {
	for _, t := range turns {
		_, found, err := one(ctx, r, scanCount, `SELECT 1 FROM turns WHERE id = $1`, t.ID)
		if err != nil {
			return nil, err
		}
		if !found {
			missing = append(missing, t)
		}
	}
	return missing, nil
}

func (r *runner) importTurns(ctx context.Context, in Import, turns []ImportTurn, epoch int) error {
	for _, t := range turns {
		if err := r.importTurn(ctx, in, t, epoch); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) importTurn(ctx context.Context, in Import, t ImportTurn, epoch int) error {
	row := turnRow{
		Turn:    domain.Turn{ID: t.ID, Session: in.Session, Epoch: epoch, Status: domain.TurnDone, Scope: t.Scope},
		channel: in.Route.Channel, chat: in.Route.Chat, thread: in.Route.Thread, push: in.Route.Push,
	}
	for _, m := range t.Messages {
		row.StartedAt = cmp.Or(row.StartedAt, m.CreatedAt)
		row.EndedAt = m.CreatedAt
		row.Sender = cmp.Or(row.Sender, m.Sender)
		if m.Role == domain.RoleAssistant {
			row.Steps, row.Reply = row.Steps+1, m.Content
		}
	}
	stored, err := r.insertTurn(ctx, row)
	if err != nil {
		return err
	}
	stored.Steps = row.Steps
	if err := r.updateTurn(ctx, stored); err != nil {
		return err
	}
	if t.Past {
		if _, err := r.exec(ctx, `UPDATE turns SET consolidated = TRUE WHERE id = $1`, t.ID); err != nil {
			return err
		}
	}
	for _, m := range t.Messages {
		m.Turn = t.ID
		if _, _, err := r.insertMessage(ctx, m); err != nil {
			return err
		}
	}
	if t.Past {
		return nil
	}
	return r.countUnconsolidated(ctx, stored.Turn)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Unasked is a turn that nobody wrote for when it began: the message that began it is
// a job's, or the report of a subagent.
type Unasked struct {
	Turn  domain.Turn
	Job   string // ID of the job; empty: it is of a subagent
	Label string // of the job or the subagent; empty if that is not known any more
}

// Unasked returns turns of a session that nobody wrote for and that ended after a
// time, in the order in which they ended, at most limit.
func (s *Store) Unasked(ctx context.Context, session string, after time.Time, limit int) (all []Unasked, err error) {
	err = s.read("read what came unasked in "+session, func(q *runner) error {
		begun, err := many(ctx, q, scanBegun, `SELECT inbox.id, inbox.job, inbox.child FROM turns JOIN inbox ON inbox.id = turns.id
			WHERE turns.session = $1 AND turns.ended_at > $2 AND (inbox.job <> '' OR inbox.child <> '')
			ORDER BY turns.ended_at, turns.seq LIMIT $3`, session, after, limit)
		if err != nil {
			return err
		}
		for _, b := range begun {
			t, err := q.turn(ctx, b.id, "")
			if errors.Is(err, domain.ErrNotFound) { // removed in between
				continue
			}
			if err != nil {
				return err
			}
			label, err := q.label(ctx, b)
			if err != nil {
				return err
			}
			all = append(all, Unasked{Turn: t.Turn, Job: b.job, Label: label})
		}
		return nil
	})
	return all, err
}

// begun is a message that began a turn.
type begun struct {
	id, job, child string
}

func scanBegun(rows *sql.Rows) (b begun, err error) {
	return b, rows.Scan(&b.id, &b.job, &b.child)
}

func (r *runner) label(ctx context.Context, b begun) (string, error) {
	if b.job != "" {
		j, _, err := r.job(ctx, b.job)
		return j.Label(), err
	}
	a, _, err := r.subagent(ctx, b.child)
	return a.Label, err
}

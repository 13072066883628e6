package store

import (
	"context"
	"database/sql"
)

// Backlog is what there is to do.
type Backlog struct {
	Messages  int // accepted, and no turn has consumed them
	Turns     int // running
	Approvals int // waiting for an answer
}

func scanBacklog(rows *sql.Rows) (b Backlog, err error) {
	return b, rows.Scan(&b.Messages, &b.Turns, &b.Approvals)
}

// Backlog counts what there is to do. It reads nothing but that.
func (s *Store) Backlog(ctx context.Context) (b Backlog, err error) {
	err = s.read("count what there is to do", func(q *runner) error {
		b, _, err = one(ctx, q, scanBacklog, `SELECT
			(SELECT COUNT(*) FROM inbox WHERE turn IS NULL AND channel <> 'subagent'),
			(SELECT COUNT(*) FROM turns WHERE status = 'running'),
			(SELECT COUNT(*) FROM approvals WHERE status = 'waiting' AND expires_at > $1)`, now())
		return err
	})
	return b, err
}

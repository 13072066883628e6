package store

import (
	"context"
	"database/sql"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

func scanBacklog(rows *sql.Rows) (b domain.Backlog, err error) {
	return b, rows.Scan(&b.Messages, &b.Turns, &b.Approvals)
}

// Backlog counts unfinished work.
func (s *Store) Backlog(ctx context.Context) (b domain.Backlog, err error) {
	b, _, err = find(ctx, s, "count the backlog", scanBacklog, `SELECT
		(SELECT COUNT(*) FROM inbox WHERE turn IS NULL AND channel <> 'subagent'),
		(SELECT COUNT(*) FROM turns WHERE status = 'running'),
		(SELECT COUNT(*) FROM approvals WHERE status = 'waiting' AND expires_at > $1)`, now())
	return b, err
}

package store

import (
	"context"
	"database/sql"
	"time"
)

// Worker is a worker process that runs beside others.
type Worker struct {
	Identity string    // in workflow histories
	SeenAt   time.Time // by its own clock: others only compare it for equality
}

func scanWorker(rows *sql.Rows) (w Worker, err error) {
	return w, rows.Scan(&w.Identity, stamp{&w.SeenAt})
}

// ShowWorker records that a worker lives. The commit is asynchronous.
func (s *Store) ShowWorker(ctx context.Context, identity string) error {
	_, err := s.exec(ctx, "show worker "+identity, asyncCommit, `INSERT INTO workers (identity, seen_at) VALUES ($1, $2)
		ON CONFLICT (identity) DO UPDATE SET seen_at = EXCLUDED.seen_at`, identity, now())
	return err
}

// Workers returns all workers.
func (s *Store) Workers(ctx context.Context) ([]Worker, error) {
	return list(ctx, s, "read the workers", scanWorker, `SELECT identity, seen_at FROM workers ORDER BY identity`)
}

// ClaimWorker claims a worker that is silent. It reports false if the worker was seen, or
// another process claimed it.
func (s *Store) ClaimWorker(ctx context.Context, w Worker, c Claim) (bool, error) {
	changed, err := s.exec(ctx, "claim worker "+w.Identity, asyncCommit, `UPDATE workers SET claimed_until = $1
		WHERE identity = $2 AND seen_at = $3 AND claimed_until <= $4`, c.Until, w.Identity, w.SeenAt, c.Due)
	return changed == 1, err
}

// RemoveWorker removes a worker, until it shows itself again.
func (s *Store) RemoveWorker(ctx context.Context, identity string) error {
	_, err := s.exec(ctx, "remove worker "+identity, asyncCommit, `DELETE FROM workers WHERE identity = $1`, identity)
	return err
}

package store

import (
	"context"
	"database/sql"
)

// SessionPlace returns where the background commands of a session run, or ran until it was
// last looked; empty: it has none.
func (s *Store) SessionPlace(ctx context.Context, session string) (place string, err error) {
	place, _, err = find(ctx, s, "read the place of "+session, scanText, `SELECT place FROM sessions WHERE key = $1`, session)
	return place, err
}

// EnterPlace records that background commands of a session run at a place. The commit is
// asynchronous: the intent of the call that starts one follows, and makes it durable.
func (s *Store) EnterPlace(ctx context.Context, session, place string) error {
	_, err := s.exec(ctx, "record the place of "+session, asyncCommit, `UPDATE sessions SET place = $2 WHERE key = $1 AND place <> $2`, session, place)
	return err
}

// LeavePlace records that no commands of a session run at a place any more. The commit is
// asynchronous: if it is lost, that place is asked once more.
func (s *Store) LeavePlace(ctx context.Context, session, place string) error {
	_, err := s.exec(ctx, "clear the place of "+session, asyncCommit, `UPDATE sessions SET place = '' WHERE key = $1 AND place = $2`, session, place)
	return err
}

// Placed is a session with background commands.
type Placed struct{ Session, Place string }

// Placed returns all sessions with background commands.
func (s *Store) Placed(ctx context.Context) ([]Placed, error) {
	return list(ctx, s, "read the places of sessions", scanPlaced, `SELECT key, place FROM sessions WHERE place > '' ORDER BY place, key`)
}

func scanPlaced(rows *sql.Rows) (p Placed, err error) {
	return p, rows.Scan(&p.Session, &p.Place)
}

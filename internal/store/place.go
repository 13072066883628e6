package store

import (
	"context"
	"database/sql"
)

// SessionPlaces returns where the background commands of a session run, or ran until it was
// last looked, and where the processes of the MCP servers that it uses run; empty: it has
// none.
func (s *Store) SessionPlaces(ctx context.Context, session string) (commands, servers string, err error) {
	places, _, err := find(ctx, s, "read the places of "+session, scanPlaces, `SELECT place, mcp_place FROM sessions WHERE key = $1`, session)
	return places[0], places[1], err
}

func scanPlaces(row *sql.Rows) (places [2]string, err error) {
	return places, row.Scan(&places[0], &places[1])
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

// MoveServers records that the processes of the MCP servers that a session uses run at
// another place, unless another call was faster. It returns where they run now. The commit
// is asynchronous: the intent of a call that must not be repeated follows, and makes it
// durable.
func (s *Store) MoveServers(ctx context.Context, session, from, to string) (place string, err error) {
	_, err = s.exec(ctx, "record the MCP servers' place of "+session, asyncCommit,
		`UPDATE sessions SET mcp_place = $3 WHERE key = $1 AND mcp_place = $2`, session, from, to)
	if err != nil {
		return "", err
	}
	_, place, err = s.SessionPlaces(ctx, session)
	return place, err
}

// LeaveServers records that the processes of the MCP servers at a place end: what they know
// of sessions is lost.
func (s *Store) LeaveServers(ctx context.Context, place string) error {
	_, err := s.exec(ctx, "clear the MCP servers' place "+place, asyncCommit, `UPDATE sessions SET mcp_place = '' WHERE mcp_place > '' AND mcp_place = $1`, place)
	return err
}

package store

import "context"

// Cursor returns how far a channel's receiver has read its platform; empty if nothing was
// stored under that name.
func (s *Store) Cursor(ctx context.Context, channel, name string) (cursor string, err error) {
	cursor, _, err = find(ctx, s, "read cursor", scanText, `SELECT cursor FROM cursors WHERE channel = $1 AND name = $2`, channel, name)
	return cursor, err
}

// SetCursor stores a cursor. The commit may be asynchronous: a receiver that reads from an
// earlier cursor gets messages again, which are recognized by their IDs.
func (s *Store) SetCursor(ctx context.Context, channel, name, cursor string) error {
	_, err := s.exec(ctx, "store cursor", asyncCommit, `INSERT INTO cursors (channel, name, cursor) VALUES ($1, $2, $3)
		ON CONFLICT (channel, name) DO UPDATE SET cursor = excluded.cursor`, channel, name, cursor)
	return err
}

package store

import (
	"context"
	"database/sql"
	"time"
)

// SaveVersion stores a version of a file unless it is stored already. path is relative
// to the workspace, hash that of the content.
func (s *Store) SaveVersion(ctx context.Context, path, hash string, content []byte) error {
	if content == nil {
		content = []byte{}
	}
	_, err := s.exec(ctx, "keep a version of "+path, syncCommit, `INSERT INTO versions (path, hash, content, created_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (path, hash) DO NOTHING`, path, hash, content, now())
	return err
}

// Version is a stored version of a file.
type Version struct {
	Path      string
	Hash      string
	Content   []byte
	CreatedAt time.Time // when it was first kept
}

// Versions returns the versions of a file, oldest first.
func (s *Store) Versions(ctx context.Context, path string) ([]Version, error) {
	return list(ctx, s, "read versions of "+path, scanVersion, `SELECT path, hash, content, created_at FROM versions WHERE path = $1 ORDER BY created_at, hash`, path)
}

func scanVersion(rows *sql.Rows) (v Version, err error) {
	return v, rows.Scan(&v.Path, &v.Hash, &v.Content, stamp{&v.CreatedAt})
}

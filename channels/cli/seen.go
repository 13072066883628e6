package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// seen is a file that says up to when the replies of a session that came unasked were
// shown, beside its notes.
type seen struct {
	path string
}

func newSeen(n notes) seen { return seen{path: n.dir + ".seen"} }

// begin returns up to when. If nobody has begun yet, or the file is damaged, it is now.
func (s seen) begin() (time.Time, error) {
	at, err := s.read()
	if err != nil || !at.IsZero() {
		return at, err
	}
	at = time.Now()
	return at, s.write(at)
}

// advance may fail: the reply is then shown once more.
func (s seen) advance(at time.Time) {
	if before, err := s.read(); err == nil && at.After(before) {
		_ = s.write(at)
	}
}

// read returns zero if there is no file, or it is damaged.
func (s seen) read() (time.Time, error) {
	content, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, fmt.Errorf("read what was seen: %w", err)
	}
	if at, err := time.Parse(time.RFC3339Nano, string(content)); err == nil {
		return at, nil
	}
	return time.Time{}, nil
}

func (s seen) write(at time.Time) error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("note what was seen: %w", err)
	}
	if err := os.WriteFile(s.path, []byte(at.UTC().Format(time.RFC3339Nano)), 0o600); err != nil {
		return fmt.Errorf("note what was seen: %w", err)
	}
	return nil
}

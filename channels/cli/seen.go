package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// seen is a file next to a session's notes. It contains the time of the last background
// reply that was shown.
type seen struct {
	path string
}

func newSeen(n notes) seen { return seen{path: n.dir + ".seen"} }

// begin returns the stored time. Without one, or if the file is damaged, it stores
// the current time.
func (s seen) begin() (time.Time, error) {
	at, err := s.read()
	if err != nil || !at.IsZero() {
		return at, err
	}
	at = time.Now()
	return at, s.write(at)
}

// advance ignores errors: the reply is then shown once more.
func (s seen) advance(at time.Time) {
	if before, err := s.read(); err == nil && at.After(before) {
		_ = s.write(at)
	}
}

// read returns zero if the file is missing or damaged.
func (s seen) read() (time.Time, error) {
	content, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, fmt.Errorf("read the time of the last reply shown: %w", err)
	}
	if at, err := time.Parse(time.RFC3339Nano, string(content)); err == nil {
		return at, nil
	}
	return time.Time{}, nil
}

func (s seen) write(at time.Time) error {
	if err := writeFile(s.path, at.UTC().Format(time.RFC3339Nano)); err != nil {
		return fmt.Errorf("store the time of the last reply shown: %w", err)
	}
	return nil
}

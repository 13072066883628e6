package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Note is a message whose end no terminal has shown yet.
type Note struct {
	ID   string
	Text string
}

// notes are the unseen messages of one session. Each has a file, so that terminals
// can write at the same time.
type notes struct {
	dir string
}

func newNotes(dir, session string) notes {
	name := strings.ReplaceAll(url.PathEscape(session), ".", "%2E") // .. is not a file name
	return notes{dir: filepath.Join(dir, name)}
}

func (n notes) add(id, text string) error {
	if err := writeFile(n.path(id), text); err != nil {
		return fmt.Errorf("note the message: %w", err)
	}
	return nil
}

// writeFile writes a file that only this user can read, with its folder.
func writeFile(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o600)
}

// remove ignores errors: the reply is then shown once more.
func (n notes) remove(id string) { _ = os.Remove(n.path(id)) }

// list returns the notes in order of their IDs.
func (n notes) list() ([]Note, error) {
	entries, err := os.ReadDir(n.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the unseen messages: %w", err)
	}
	var list []Note
	for _, entry := range entries {
		text, err := os.ReadFile(n.path(entry.Name()))
		if errors.Is(err, fs.ErrNotExist) { // another terminal has removed it
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the unseen messages: %w", err)
		}
		list = append(list, Note{ID: entry.Name(), Text: string(text)})
	}
	return list, nil
}

func (n notes) path(id string) string { return filepath.Join(n.dir, id) }

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

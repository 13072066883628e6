package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
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

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// historyLimit bounds the entries that are kept.
const historyLimit = 1000

// history is the input of this chat and earlier ones, with a current position.
type history struct {
	path    string
	entries []string
	at      int    // len(entries): at the draft
	draft   string // input that was not submitted before going back
}

// openHistory reads a file with one JSON string per line. It skips damaged lines and
// shortens a file that has grown too long.
func openHistory(path string) (*history, error) {
	h := &history{path: path}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the history: %w", err)
	}
	for line := range bytes.Lines(raw) {
		var entry string
		if json.Unmarshal(line, &entry) == nil {
			h.entries = append(h.entries, entry)
		}
	}
	if len(h.entries) > 2*historyLimit {
		h.entries = slices.Clone(h.entries[len(h.entries)-historyLimit:])
		if err := h.write(os.O_TRUNC, h.entries...); err != nil {
			return nil, err
		}
	}
	h.at = len(h.entries)
	return h, nil
}

// add appends an entry unless it repeats the last one, and moves to the end.
func (h *history) add(entry string) error {
	if n := len(h.entries); n == 0 || h.entries[n-1] != entry {
		h.entries = append(h.entries, entry)
		if err := h.write(os.O_APPEND, entry); err != nil {
			return err
		}
	}
	h.at, h.draft = len(h.entries), ""
	return nil
}

// write writes entries to the file; mode says whether it appends them.
func (h *history) write(mode int, entries ...string) error {
	var lines bytes.Buffer
	for _, entry := range entries {
		_ = json.NewEncoder(&lines).Encode(entry) // encoding a string to memory cannot fail
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_WRONLY|mode, 0o600)
	if err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	_, err = f.Write(lines.Bytes())
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	return nil
}

// back returns the previous entry. At the end it stores the current input first.
func (h *history) back(current string) (string, bool) {
	if h.at == 0 {
		return "", false
	}
	if h.at == len(h.entries) {
		h.draft = current
	}
	h.at--
	return h.entries[h.at], true
}

// forward returns the next entry; at the end, the input stored by back.
func (h *history) forward() (string, bool) {
	if h.at == len(h.entries) {
		return "", false
	}
	h.at++
	if h.at == len(h.entries) {
		return h.draft, true
	}
	return h.entries[h.at], true
}

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
		if err := h.rewrite(); err != nil {
			return nil, err
		}
	}
	h.at = len(h.entries)
	return h, nil
}

func (h *history) rewrite() error {
	var all bytes.Buffer
	encoder := json.NewEncoder(&all)
	for _, entry := range h.entries {
		_ = encoder.Encode(entry) // encoding a string to memory cannot fail
	}
	if err := os.WriteFile(h.path, all.Bytes(), 0o600); err != nil {
		return fmt.Errorf("shorten the history: %w", err)
	}
	return nil
}

// add appends an entry unless it repeats the last one, and moves to the end.
func (h *history) add(entry string) error {
	if n := len(h.entries); n == 0 || h.entries[n-1] != entry {
		h.entries = append(h.entries, entry)
		if err := h.append(entry); err != nil {
			return err
		}
	}
	h.at, h.draft = len(h.entries), ""
	return nil
}

func (h *history) append(entry string) error {
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the history: %w", err)
	}
	if err := errors.Join(json.NewEncoder(f).Encode(entry), f.Close()); err != nil {
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

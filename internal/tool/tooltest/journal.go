// Package tooltest has helpers for tests of tools.
package tooltest

import (
	"context"
	"slices"
	"sync"
)

// Journal is an in-memory [tool.Journal] of one call, to be shared by its attempts.
type Journal struct {
	mu      sync.Mutex
	intents map[string][]byte
	err     error
	keep    bool
}

// NewJournal returns an empty journal.
func NewJournal() *Journal { return &Journal{intents: map[string][]byte{}} }

// FailNext makes the next Intend return err. With stored, it keeps the intent, as if
// the response was lost after the commit.
func (j *Journal) FailNext(err error, stored bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err, j.keep = err, stored
}

// Intend implements [tool.Journal].
func (j *Journal) Intend(_ context.Context, part string, intent []byte) ([]byte, bool, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.err
	j.err = nil
	if err != nil && !j.keep {
		return nil, false, err
	}
	stored, there := j.intents[part]
	if !there {
		stored = slices.Clone(intent)
		j.intents[part] = stored
	}
	if err != nil {
		return nil, false, err
	}
	return slices.Clone(stored), !there, nil
}

// Intents returns the stored intents by part.
func (j *Journal) Intents() map[string][]byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := make(map[string][]byte, len(j.intents))
	for part, intent := range j.intents {
		all[part] = slices.Clone(intent)
	}
	return all
}

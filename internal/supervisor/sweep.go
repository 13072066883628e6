package supervisor

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// removedPrefix is the name prefix of directories that are being deleted.
const removedPrefix = ".removed-"

// Remove deletes the state of a command. Start would run it again, so the key must
// no longer be used. It returns [ErrRunning] if the command is running.
func (s *Supervisor) Remove(key string) error {
	e, err := s.entry(key)
	if err != nil {
		return err
	}
	if !e.exists("") {
		return nil
	}
	if e.phase() == absent {
		// A supervisor may be starting. It will find this request, or no directory.
		if err := e.requestStop(); err != nil {
			return fmt.Errorf("supervisor: remove %s: %w", key, err)
		}
	}
	if e.phase() == running {
		return fmt.Errorf("supervisor: remove %s: %w", key, ErrRunning)
	}
	// Atomically: a partial directory would have another meaning.
	removed := filepath.Join(s.dir, removedPrefix+key+"-"+rand.Text())
	err = os.Rename(e.dir, removed)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = os.RemoveAll(removed)
	}
	if err != nil {
		return fmt.Errorf("supervisor: remove %s: %w", key, err)
	}
	return nil
}

// Sweep removes commands that ended, or were lost, longer than age ago, and returns
// how many. It skips running ones.
func (s *Supervisor) Sweep(age time.Duration) (removed int, err error) {
	found, err := os.ReadDir(s.dir)
	if err != nil {
		return 0, fmt.Errorf("supervisor: sweep: %w", err)
	}
	var failed []error
	for _, f := range found {
		if strings.HasPrefix(f.Name(), removedPrefix) {
			failed = append(failed, os.RemoveAll(filepath.Join(s.dir, f.Name())))
			continue
		}
		info, err := f.Info()
		if err != nil || !f.IsDir() || time.Since(info.ModTime()) < age {
			continue
		}
		switch err := s.Remove(f.Name()); {
		case err == nil:
			removed++
		case !errors.Is(err, ErrRunning):
			failed = append(failed, err)
		}
	}
	return removed, errors.Join(failed...)
}

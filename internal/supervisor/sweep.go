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

// removedPrefix begins the names of directories that are being deleted.
const removedPrefix = ".removed-"

// Remove forgets the command of that key: what is known of it is deleted, and
// Start would run it again. So call it when nothing can ask for the key any more.
// It returns [ErrRunning] if the command is running.
func (s *Supervisor) Remove(key string) error {
	e, err := s.entry(key)
	if err != nil {
		return err
	}
	if !e.exists("") {
		return nil
	}
	if e.phase() == absent {
		// A supervisor may be on its way. It will find this, or nothing.
		if err := e.requestStop(); err != nil {
			return fmt.Errorf("supervisor: remove %s: %w", key, err)
		}
	}
	if e.phase() == running {
		return fmt.Errorf("supervisor: remove %s: %w", key, ErrRunning)
	}
	// In one step: half a directory would tell lies.
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

// Sweep removes the commands that ended, or were lost, longer than age ago, and
// returns how many. It never touches one that runs.
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

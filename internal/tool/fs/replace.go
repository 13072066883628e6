package fs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// replace atomically replaces the file with the change's content if the file still
// has the hash want.Before. The change is durable on return.
func (p place) replace(ctx context.Context, key string, c change, want intent) error {
	parent, base := filepath.Dir(p.name), filepath.Base(p.name)
	_, err := p.root.Stat(parent)
	made := errors.Is(err, fs.ErrNotExist)
	if err := p.root.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	// One directory descriptor for all that follows keeps the temporary file and
	// the rename together even if the path changes.
	dir, err := p.root.OpenRoot(parent)
	if err != nil {
		return err
	}
	defer dir.Close()

	temp, err := openTemp(dir, key)
	if err != nil {
		return err
	}
	defer temp.discard()
	if err := temp.fill(c.content, cmp.Or(modeOf(dir, base), c.mode)); err != nil {
		return err
	}
	// Check as late as possible: writing and syncing take time.
	now, err := fingerprint(dir, base)
	switch {
	case err != nil:
		return err
	case now == want.After:
		return nil
	case now != want.Before:
		return errChanged
	}
	if err := tool.Check(ctx); err != nil {
		return err
	}
	if err := dir.Rename(temp.name, base); err != nil {
		return err
	}
	temp.renamed = true
	return p.syncDirs(parent, made)
}

// errChanged reports that a file changed since the call first read it.
var errChanged = &kindError{"was changed by someone else in the meantime and not written; read it again"}

// remove deletes the file if it still has the hash want.Before.
func (p place) remove(ctx context.Context, want intent) error {
	parent, base := filepath.Dir(p.name), filepath.Base(p.name)
	dir, err := p.root.OpenRoot(parent)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	now, err := fingerprint(dir, base)
	switch {
	case err != nil:
		return err
	case now == "":
		return nil
	case now != want.Before:
		return errChanged
	}
	if err := tool.Check(ctx); err != nil {
		return err
	}
	if err := dir.Remove(base); err != nil {
		return err
	}
	return p.syncDirs(parent, false)
}

// modeOf returns the mode that a new version of the file must have; 0 for any.
func modeOf(dir *os.Root, name string) os.FileMode {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Mode().Perm()
}

// syncDirs syncs the directory, and its parents if they were created.
func (p place) syncDirs(dir string, made bool) error {
	for {
		d, err := p.root.Open(dir)
		if err == nil {
			err = d.Sync()
			_ = d.Close()
		}
		if err != nil {
			// The rename took effect, but may not survive a power failure.
			return fmt.Errorf("%w: sync the directory: %w", tool.ErrOutcomeUnknown, err)
		}
		if !made || dir == "." {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// tempFile holds new content before the rename. It is locked, so that a superseded
// attempt cannot interfere with its successor's file.
type tempFile struct {
	dir     *os.Root
	name    string
	file    *os.File
	renamed bool
}

// openTemp opens the call's temporary file in dir. Its name derives from the call's
// key, so it may be a file that a crashed attempt left behind.
func openTemp(dir *os.Root, key string) (*tempFile, error) {
	name := ".holdfast-" + hash([]byte(key))[:20] + ".tmp"
	f, err := safefile.TryLock(dir, name)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, fmt.Errorf("%w: another attempt of this call is writing the file", tool.ErrRetry)
	}
	return &tempFile{dir: dir, name: name, file: f}, nil
}

// fill writes content durably. A mode of 0 leaves the file's mode.
func (t *tempFile) fill(content []byte, mode os.FileMode) error {
	if err := t.file.Truncate(0); err != nil {
		return err
	}
	if _, err := t.file.Write(content); err != nil {
		return err
	}
	if mode != 0 {
		if err := t.file.Chmod(mode); err != nil {
			return err
		}
	}
	return t.file.Sync()
}

// discard removes the file unless it was renamed, and then releases the lock.
func (t *tempFile) discard() {
	if !t.renamed {
		_ = t.dir.Remove(t.name)
	}
	_ = t.file.Close()
}

package fs

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// replace puts the change's content in the place of the file, all of it or
// nothing, provided that the file still is what want says it was. It is on the
// disk on return.
func (p place) replace(key string, c change, want intent) error {
	parent, base := filepath.Dir(p.name), filepath.Base(p.name)
	_, err := p.root.Stat(parent)
	made := errors.Is(err, fs.ErrNotExist)
	if err := p.root.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	// One descriptor of the directory for all that follows: whatever happens to the
	// path meanwhile, the temporary file and the rename stay together.
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
	// Looked at as late as possible: reading, noting and syncing took their time.
	now, err := fingerprint(dir, base)
	switch {
	case err != nil:
		return err
	case now == want.After:
		return nil
	case now != want.Before:
		return errChanged
	}
	if err := dir.Rename(temp.name, base); err != nil {
		return err
	}
	temp.renamed = true
	return p.syncDirs(parent, made)
}

// errChanged says that a file is not what it was when the call looked at it first.
var errChanged = &kindError{"was changed by somebody else just now; nothing was written, read it again first"}

// remove deletes the file, provided that it still is what want says it was.
func (p place) remove(want intent) error {
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
	if err := dir.Remove(base); err != nil {
		return err
	}
	return p.syncDirs(parent, false)
}

// modeOf is the mode that a new version of the file must have; 0 for any.
func modeOf(dir *os.Root, name string) os.FileMode {
	info, err := dir.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Mode().Perm()
}

// syncDirs makes an entry of the directory durable, and, when directories were
// made, theirs too.
func (p place) syncDirs(dir string, made bool) error {
	for {
		d, err := p.root.Open(dir)
		if err == nil {
			err = d.Sync()
			_ = d.Close()
		}
		if err != nil {
			// The rename has happened; whether it survives a power cut nobody can say.
			return fmt.Errorf("%w: sync the directory: %w", tool.ErrOutcomeUnknown, err)
		}
		if !made || dir == "." {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// tempFile is where a call puts content before it is renamed. It is locked, so
// that a late attempt cannot meddle with the file of the one that replaced it.
type tempFile struct {
	dir     *os.Root
	name    string
	file    *os.File
	renamed bool
}

// openTemp opens the call's temporary file in dir, the one a crashed attempt
// left there included: its name derives from the call's key.
func openTemp(dir *os.Root, key string) (*tempFile, error) {
	name := ".holdfast-" + hash([]byte(key))[:20] + ".tmp"
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, err
	}
	// Some file systems have no locks; there the lock is done without.
	busy := errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
	mine, err := f.Stat()
	if err == nil && !busy {
		var named os.FileInfo
		named, err = dir.Lstat(name)
		busy = err != nil || !os.SameFile(mine, named)
	}
	if busy || err != nil || !mine.Mode().IsRegular() {
		_ = f.Close()
		return nil, fmt.Errorf("%w: another attempt at this call is writing the file", tool.ErrRetry)
	}
	return &tempFile{dir: dir, name: name, file: f}, nil
}

// fill writes content through to the disk. A mode of 0 leaves a new file's mode.
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

// discard removes the file unless it was renamed, and only then lets go of it.
func (t *tempFile) discard() {
	if !t.renamed {
		_ = t.dir.Remove(t.name)
	}
	_ = t.file.Close()
}

package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/holdfast-ai/holdfast/internal/failpoint"
)

// writer replaces one file while the lock is held.
type writer struct {
	files *Files
	root  *os.Root // the file's folder, even if its path is renamed
	name  string   // file name in the folder
	path  string   // path in the workspace
	// displaced are versions that an exchange took out unexpectedly. An editor may
	// not have seen them before they were exchanged back.
	displaced [][]byte
}

// spare is the name of the file that is exchanged for the real one. Its content is
// saved before it is removed.
func (w *writer) spare() string { return "." + w.name + ".holdfast" }

// current saves what an interrupted replacement left behind, and returns the file
// as it is now, saved as well.
func (w *writer) current(ctx context.Context) (snapshot, error) {
	if err := w.settle(ctx); err != nil {
		return snapshot{}, err
	}
	now, err := readOwn(w.root, w.name)
	if err != nil {
		return snapshot{}, fmt.Errorf("read %s: %w", w.path, unusable(err))
	}
	if now.hash == "" {
		return now, nil
	}
	return now, w.files.keep(ctx, w.path, now.content)
}

// replace writes content to the file if now, its current version, is base.
func (w *writer) replace(ctx context.Context, now snapshot, base string, content []byte) error {
	switch {
	case now.hash == hashOf(content):
		return nil
	case now.hash != base:
		return ErrChanged
	}
	if err := w.files.keep(ctx, w.path, content); err != nil {
		return err
	}
	if err := w.fill(content, now.mode); err != nil {
		return fmt.Errorf("write %s: %w", w.path, err)
	}
	failpoint.Hit("memory.filled")
	placed, err := w.place(base, hashOf(content))
	failpoint.Hit("memory.placed")
	if err == nil {
		err = syncFolder(w.root, ".")
	}
	// Also after an error: the exchange may have taken out an unseen version.
	if settled := w.settle(ctx); settled != nil {
		return errors.Join(err, settled)
	}
	if err != nil {
		return fmt.Errorf("replace %s: %w", w.path, err)
	}
	if !placed {
		return ErrChanged
	}
	return nil
}

// fill writes content to the spare file, durably.
func (w *writer) fill(content []byte, mode os.FileMode) error {
	f, err := w.root.OpenFile(w.spare(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// place replaces the file, expected to have the hash expected, with the spare,
// which has the hash added, and reports whether it did. An editor may have replaced
// the file since it was read, without taking the lock. So place exchanges file and
// spare atomically, and exchanges them back if it took out an unexpected version.
// If that in turn takes out something other than the spare, the editor saved once
// more, and its newest version must go back.
func (w *writer) place(expected, added string) (placed bool, err error) {
	if expected == "" {
		return w.placeNew()
	}
	for first := true; ; first = false {
		err := exchange(w.root, w.spare(), w.name)
		if first && errors.Is(err, errors.ErrUnsupported) {
			return w.placeOver(expected)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		out, err := readOwn(w.root, w.spare())
		switch {
		case err != nil:
			out.hash = "unreadable" // no file has this hash
		case out.hash != expected:
			w.displaced = append(w.displaced, out.content)
		}
		if out.hash == expected {
			return first, nil
		}
		expected, added = added, out.hash
	}
}

// placeOver replaces the file on systems without an atomic exchange. A version that
// an editor saves in between is lost.
func (w *writer) placeOver(expected string) (placed bool, err error) {
	now, err := readOwn(w.root, w.name)
	if err != nil || now.hash != expected {
		return false, err
	}
	err = w.root.Rename(w.spare(), w.name)
	return err == nil, err
}

// placeNew renames the spare to a file that does not exist yet.
func (w *writer) placeNew() (placed bool, err error) {
	err = w.root.Link(w.spare(), w.name)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil { // a file system without hard links
		err = w.root.Rename(w.spare(), w.name)
	}
	return err == nil, err
}

// settle saves displaced versions and the content of the spare, and removes the
// spare. The spare has either our version, not placed, or the version we replaced,
// including later writes of an editor that still had it open. It may be from a
// writer that was killed.
func (w *writer) settle(ctx context.Context) error {
	for ; len(w.displaced) > 0; w.displaced = w.displaced[1:] {
		if err := w.files.keep(ctx, w.path, w.displaced[0]); err != nil {
			return err
		}
	}
	left, err := readOwn(w.root, w.spare())
	if err == nil && left.hash == "" {
		return nil
	}
	if err == nil {
		err = w.files.keep(ctx, w.path, left.content)
	}
	if err == nil {
		err = w.root.Remove(w.spare())
	}
	if err != nil {
		return fmt.Errorf("save the content of %s in %s: %w", w.path, w.spare(), err)
	}
	return nil
}

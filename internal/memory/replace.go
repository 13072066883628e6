package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/holdfast-ai/holdfast/internal/failpoint"
)

// writer replaces one file. The lock is held.
type writer struct {
	files *Files
	root  *os.Root // of the folder: what happens to its path does not matter
	name  string   // of the file in the folder
	path  string   // of the file in the workspace
	// displaced are versions that came out of the file unexpectedly. An editor may
	// have missed them in the moment until they were back.
	displaced [][]byte
}

// spare is the name of the file that is exchanged for the real one. Nothing that
// is in it is thrown away before it was kept.
func (w *writer) spare() string { return "." + w.name + ".holdfast" }

// replace makes content the file's, if the file is the version base.
func (w *writer) replace(ctx context.Context, base string, content []byte) error {
	if err := w.settle(ctx); err != nil {
		return err
	}
	now, err := w.look(ctx)
	switch {
	case err != nil:
		return err
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
	// Also after an error: what was taken out may be a version nobody has seen.
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

// look reads the file that is to be replaced, and keeps it.
func (w *writer) look(ctx context.Context) (snapshot, error) {
	now, err := readOwn(w.root, w.name)
	if err != nil {
		return snapshot{}, fmt.Errorf("read %s: %w", w.path, unusable(err))
	}
	if now.hash == "" {
		return now, nil
	}
	return now, w.files.keep(ctx, w.path, now.content)
}

// fill writes content through to the disk, as the spare.
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

// place puts the spare, with the hash added, in the place of the file, with the
// hash expected, and reports whether it did. An editor that heeds no lock may have
// replaced the file since it was read. So file and spare are exchanged in one
// step, and exchanged back if what came out is not what was expected; if then
// what comes out is not ours, the editor was faster once more, and its newest
// version belongs into the place.
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
			out.hash = "unreadable" // as no file's is
		case out.hash != expected:
			w.displaced = append(w.displaced, out.content)
		}
		if out.hash == expected {
			return first, nil
		}
		expected, added = added, out.hash
	}
}

// placeOver puts the spare in the place of the file where files cannot be
// exchanged. An editor that saves right between loses that version.
func (w *writer) placeOver(expected string) (placed bool, err error) {
	now, err := readOwn(w.root, w.name)
	if err != nil || now.hash != expected {
		return false, err
	}
	err = w.root.Rename(w.spare(), w.name)
	return err == nil, err
}

// placeNew puts the spare in the place of a file that is not there.
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

// settle keeps what was displaced and what is in the spare, which it removes: ours
// that found no place, or the version that was replaced; by a writer that was
// killed, or just now, with what somebody who had the file open wrote since.
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
		return fmt.Errorf("keep what %s has in %s: %w", w.path, w.spare(), err)
	}
	return nil
}

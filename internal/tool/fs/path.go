package fs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// pathLimit is the longest path, in bytes, that Linux takes.
const pathLimit = 4096

// kernelTrees are not files but the kernel's view of the machine, the secrets in
// our own environment included. They are refused also without a restriction.
var kernelTrees = [...]string{"/proc", "/sys", "/dev"}

// tree is the files that calls may touch.
type tree struct {
	dir      string // the workspace as configured, absolute
	real     string // the same without symbolic links
	restrict bool
	memory   Memory
}

// place is where a path leads: a name, clean and relative, in a root that
// nothing can leave, whatever becomes of the links on the way.
type place struct {
	tree tree
	root *os.Root
	name string
}

// at resolves a path as a model gave it. The place must be closed.
func (t tree) at(path string) (place, error) {
	switch {
	case strings.ContainsRune(path, 0):
		return place{}, errors.New("the path has a NUL character in it; give a plain path")
	case len(path) > pathLimit:
		return place{}, fmt.Errorf("the path is too long: %d bytes, at most %d are possible", len(path), pathLimit)
	}
	if t.restrict {
		name, err := t.inside(path)
		if err != nil {
			return place{}, err
		}
		return t.open(t.real, name)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.real, path)
	}
	path = withoutLinks(filepath.Clean(path))
	for _, kernel := range kernelTrees {
		if _, in := within(kernel, path); in {
			return place{}, fmt.Errorf("%s is refused: the file tools do not read or write %s", path, kernel)
		}
	}
	top := filepath.VolumeName(path) + string(filepath.Separator)
	return t.open(top, filepath.Clean(strings.TrimPrefix(path, top)))
}

// inside makes path relative to the workspace, or says that it is not in it.
func (t tree) inside(path string) (string, error) {
	name := filepath.Clean(path)
	if filepath.IsAbs(name) {
		for _, dir := range []string{t.dir, t.real} {
			if rel, in := within(dir, name); in {
				return rel, nil
			}
		}
	}
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("%q is outside the workspace %s; only paths inside it are allowed", path, t.dir)
	}
	return name, nil
}

func (t tree) open(dir, name string) (place, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return place{}, explain("the workspace", err)
	}
	return place{tree: t, root: root, name: name}, nil
}

func (p place) close() { _ = p.root.Close() }

// show gives a name in p's root as the model should write it: relative to the
// workspace, absolute elsewhere.
func (p place) show(name string) string {
	path := filepath.Join(p.root.Name(), name)
	if rel, in := within(p.tree.real, path); in {
		path = rel
	}
	return strings.ToValidUTF8(path, "\uFFFD")
}

// within reports whether path is dir or beneath it, and gives it relative to dir.
func within(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// withoutLinks resolves the symbolic links of the part of path that exists.
// [os.Root] refuses absolute links, which an unrestricted path may well have.
func withoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(withoutLinks(parent), filepath.Base(path))
}

// openRegular opens a regular file for reading, and nothing else: a FIFO would
// block, and a device may do anything.
func openRegular(root *os.Root, name string) (*os.File, os.FileInfo, error) {
	// Looked at before it is opened, since opening alone can have effects; without
	// blocking, and looked at again, since it may have been swapped.
	info, err := root.Stat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(info); err != nil {
		return nil, nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

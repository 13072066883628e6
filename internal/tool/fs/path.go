package fs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const pathLimit = 4096 // bytes; Linux's limit

// kernelTrees show the state of the kernel, including the secrets in our own
// environment. They are refused even without a restriction.
var kernelTrees = [...]string{"/proc", "/sys", "/dev"}

// tree is the set of files that calls may access.
type tree struct {
	dir      string // the workspace as configured, absolute
	real     string // dir without symbolic links
	restrict bool
	memory   Memory
}

// place is a resolved path: a clean, relative name in a root that symbolic links
// cannot escape.
type place struct {
	tree tree
	root *os.Root
	name string
}

// at resolves a path given by a model. The caller must close the place.
func (t tree) at(path string) (place, error) {
	switch {
	case strings.ContainsRune(path, 0):
		return place{}, errors.New("the path contains a NUL character")
	case len(path) > pathLimit:
		return place{}, fmt.Errorf("the path is too long: %d bytes, the limit is %d", len(path), pathLimit)
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
	path = tool.WithoutLinks(path) // [os.Root] refuses absolute links
	for _, kernel := range kernelTrees {
		if _, in := within(kernel, path); in {
			return place{}, fmt.Errorf("%s is refused: the file tools cannot access %s", path, kernel)
		}
	}
	top := filepath.VolumeName(path) + string(filepath.Separator)
	return t.open(top, filepath.Clean(strings.TrimPrefix(path, top)))
}

// inside returns path relative to the workspace, or an error if it is outside.
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
		return "", fmt.Errorf("%q is outside the workspace %s", path, t.dir)
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

// show returns a name in p's root as the model should write it: relative to the
// workspace, or absolute outside it.
func (p place) show(name string) string {
	path := filepath.Join(p.root.Name(), name)
	if rel, in := within(p.tree.real, path); in {
		path = rel
	}
	return strings.ToValidUTF8(path, "\uFFFD")
}

// within reports whether path is dir or below it, and returns it relative to dir.
func within(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

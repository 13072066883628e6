// Package memory manages the files of the agent's memory: MEMORY.md, long-term
// facts, and HISTORY.md, a log of past conversations. The shared ones are in the
// workspace's memory folder, those of a scope in a folder below it. The package
// also builds the request that asks a model to consolidate a conversation into
// them, and parses the answer.
//
// Editors, the agent's tools and consolidations write the same files. Holdfast
// never replaces a version that it has not read, and saves each version in
// [Versions] before replacing it.
package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	folder      = "memory"
	memoryFile  = "MEMORY.md"
	historyFile = "HISTORY.md"
)

// ErrChanged reports that a file changed since the version an update is based on.
// The caller reads it again and redoes the update.
var ErrChanged = errors.New("the memory changed in the meantime")

// Versions stores file versions so that each can be restored.
type Versions interface {
	// SaveVersion stores content under path and hash unless it is already stored. It is
	// durable when SaveVersion returns nil. path is relative to the workspace, with
	// slashes; hash is the hex SHA-256 of content. Safe for concurrent use.
	SaveVersion(ctx context.Context, path, hash string, content []byte) error
}

// Options configure [Files]. Both are required.
type Options struct {
	Workspace string // an existing directory
	Versions  Versions
}

// Files are the memory files of a workspace. Safe for concurrent use, also by
// several processes on one machine.
type Files struct {
	workspace string
	versions  Versions
	saved     sync.Map // path to the hash of the last saved version
}

// New returns the memory files of a workspace.
func New(o Options) (*Files, error) {
	if o.Workspace == "" || o.Versions == nil {
		return nil, errors.New("memory: workspace and versions are required")
	}
	return &Files{workspace: o.Workspace, versions: o.Versions}, nil
}

// Read returns the facts of a scope and their version for [Files.Update], both
// empty if the file does not exist. It returns [ErrUnusable] for a file that a
// model could not reproduce: longer than [Limit] or not UTF-8.
func (f *Files) Read(ctx context.Context, scope Scope) (text, version string, err error) {
	content, version, err := f.Present(scope)
	if err != nil || version == "" {
		return "", "", err
	}
	name := scope.Facts()
	if err := consolidable(content); err != nil {
		return "", "", fmt.Errorf("read %s: %w", name, unusable(err))
	}
	return clean(content), version, f.keep(ctx, name, content)
}

// Present returns the facts of a scope exactly as they are in the file, and their
// version; both are empty if the file does not exist.
func (f *Files) Present(scope Scope) (content []byte, version string, err error) {
	root, err := f.open()
	if err != nil {
		return nil, "", err
	}
	defer root.Close()
	now, err := readOwn(root, scope.Facts())
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", scope.Facts(), unusable(err))
	}
	return now.content, now.hash, nil
}

// Update replaces the facts of a scope with text if they are still the version
// base from [Files.Read]; else it returns [ErrChanged]. The change is durable on
// return. Repeating it has no effect. Empty text and placeholders change nothing:
// only people clear the memory.
func (f *Files) Update(ctx context.Context, scope Scope, base, text string) error {
	text = clean([]byte(text))
	if isPlaceholder(text) {
		return nil
	}
	return f.write(ctx, scope.Facts(), func(w *writer, now snapshot) error {
		if clean(now.content) == text {
			return nil
		}
		if err := consolidable(now.content); err != nil {
			return fmt.Errorf("write %s: %w", w.path, unusable(err))
		}
		return w.replace(ctx, now, base, []byte(text+"\n"))
	})
}

// Restore replaces the facts of a scope with content, an earlier version. It saves
// the present version first, and returns [ErrChanged] if someone else changes the
// file at the same time. The change is durable on return.
func (f *Files) Restore(ctx context.Context, scope Scope, content []byte) error {
	return f.write(ctx, scope.Facts(), func(w *writer, now snapshot) error {
		return w.replace(ctx, now, now.hash, content)
	})
}

// Owns reports whether a workspace path belongs to memory. Such files must be
// replaced with [Files.Replace] only.
func (f *Files) Owns(name string) bool {
	name = path.Clean(filepath.ToSlash(name))
	return strings.HasPrefix(name, folder+"/") && strings.EqualFold(path.Ext(name), ".md")
}

// Replace is [Files.Update] for the agent's tools: it replaces any file that memory
// owns with content, unmodified. base is the hex SHA-256 of the version that the
// change is based on, empty for a new file.
func (f *Files) Replace(ctx context.Context, name, base string, content []byte) error {
	if !f.Owns(name) {
		return fmt.Errorf("%s is not a memory file", name)
	}
	return f.write(ctx, path.Clean(filepath.ToSlash(name)), func(w *writer, now snapshot) error {
		return w.replace(ctx, now, base, content)
	})
}

// write calls do with a writer of the file and its current version while holding the
// lock.
func (f *Files) write(ctx context.Context, name string, do func(w *writer, now snapshot) error) error {
	return f.locked(ctx, path.Dir(name), func(dir *os.Root) error {
		w := &writer{files: f, root: dir, name: path.Base(name), path: name}
		now, err := w.current(ctx)
		if err != nil {
			return err
		}
		return do(w, now)
	})
}

// locked calls do with a folder while holding the lock of the workspace.
func (f *Files) locked(ctx context.Context, name string, do func(dir *os.Root) error) error {
	root, err := f.open()
	if err != nil {
		return err
	}
	defer root.Close()
	release, err := lock(ctx, root)
	if err != nil {
		return err
	}
	defer release()
	dir, err := openFolder(root, name)
	if err != nil {
		return fmt.Errorf("open folder %s: %w", name, unusable(err))
	}
	defer dir.Close()
	return do(dir)
}

func (f *Files) open() (*os.Root, error) {
	root, err := os.OpenRoot(f.workspace)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return root, nil
}

// keep saves a version unless it is the last saved one.
func (f *Files) keep(ctx context.Context, name string, content []byte) error {
	hash := hashOf(content)
	if last, ok := f.saved.Load(name); ok && last == hash {
		return nil
	}
	if err := f.versions.SaveVersion(ctx, name, hash, content); err != nil {
		return fmt.Errorf("save a version of %s: %w", name, err)
	}
	f.saved.Store(name, hash)
	return nil
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// clean makes file content or model output valid in a JSON request.
func clean(content []byte) string {
	return strings.TrimSpace(text.Clean(string(content)))
}

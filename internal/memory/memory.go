// Package memory has the files in which an agent remembers: MEMORY.md, the facts
// that last, and HISTORY.md, a log of past conversations, both in the workspace's
// folder memory or, for a scope, in a folder below it; and the texts by which a
// model consolidates a conversation into them.
//
// People's editors, the agent's tools and consolidations write the same files. A
// writer of ours never replaces a version that it has not read, and nothing is
// replaced before it was given to [Versions].
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
)

const (
	folder      = "memory"
	memoryFile  = "MEMORY.md"
	historyFile = "HISTORY.md"
)

// ErrChanged says that a file is not the version any more that an update is based
// on. The caller reads it again and redoes the update.
var ErrChanged = errors.New("the memory was changed meanwhile")

// Versions keeps the versions of files, so that each can be had back.
type Versions interface {
	// Save keeps content under path and hash unless it is kept already, and has
	// it on the disk when it returns nil. path is relative to the workspace, with
	// slashes; hash is the hex SHA-256 of content. Safe for concurrent use.
	Save(ctx context.Context, path, hash string, content []byte) error
}

// Options is what [Files] need. Both are required.
type Options struct {
	Workspace string // a directory that exists
	Versions  Versions
}

// Files are the files of memory of a workspace, which is opened anew by each
// call. Safe for concurrent use, also by several processes on one machine.
type Files struct {
	workspace string
	versions  Versions
	saved     sync.Map // path to the hash of the version that was saved last
}

// New returns the files of memory of a workspace.
func New(o Options) (*Files, error) {
	if o.Workspace == "" || o.Versions == nil {
		return nil, errors.New("memory: workspace and versions are required")
	}
	return &Files{workspace: o.Workspace, versions: o.Versions}, nil
}

// Read returns the facts of a scope, as valid UTF-8, and their version for
// [Files.Update]. A file that is not there is an empty text with an empty version.
func (f *Files) Read(ctx context.Context, scope Scope) (text, version string, err error) {
	root, err := f.open()
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	now, err := f.see(ctx, root, scope.file(memoryFile))
	if err != nil {
		return "", "", err
	}
	return clean(now.content), now.hash, nil
}

// Update replaces the facts of a scope by text, provided that they still are the
// version base, as [Files.Read] gave it; else it returns [ErrChanged]. It is on
// the disk on return. To do it again is no change, and to forget everything is
// left to people: a blank text changes nothing.
func (f *Files) Update(ctx context.Context, scope Scope, base, text string) error {
	text = clean([]byte(text))
	if text == "" {
		return nil
	}
	return f.locked(ctx, func(root *os.Root) error {
		dir, err := openFolder(root, scope.folder())
		if err != nil {
			return fmt.Errorf("open the folder of %s: %w", scope.file(memoryFile), err)
		}
		defer dir.Close()
		w := writer{files: f, root: dir, name: memoryFile, path: scope.file(memoryFile)}
		return w.replace(ctx, base, []byte(text+"\n"))
	})
}

// Guard lets another writer of ours, such as a tool, replace a file by itself. It
// is called when all else is done, with what the file will be; it takes the lock
// of memory's writers and saves both versions. The caller then makes sure that the
// file is what it was based on, renames, and calls release. name is relative to
// the workspace. For files that are not memory's there is nothing to guard.
func (f *Files) Guard(ctx context.Context, name string, content []byte) (release func(), err error) {
	name = path.Clean(filepath.ToSlash(name))
	if !strings.HasPrefix(name, folder+"/") || !strings.EqualFold(path.Ext(name), ".md") {
		return func() {}, nil
	}
	root, err := f.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	release, err = lock(ctx, root)
	if err != nil {
		return nil, err
	}
	_, err = f.see(ctx, root, name)
	if err == nil {
		err = f.keep(ctx, name, content)
	}
	if err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// locked calls do while no other writer of ours writes.
func (f *Files) locked(ctx context.Context, do func(root *os.Root) error) error {
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
	return do(root)
}

func (f *Files) open() (*os.Root, error) {
	root, err := os.OpenRoot(f.workspace)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return root, nil
}

// see reads a file and keeps the version that it found.
func (f *Files) see(ctx context.Context, root *os.Root, name string) (snapshot, error) {
	now, err := read(root, name)
	if err != nil {
		return snapshot{}, fmt.Errorf("read %s: %w", name, err)
	}
	if now.hash == "" {
		return now, nil
	}
	return now, f.keep(ctx, name, now.content)
}

// keep saves a version, unless it is the one that was saved last.
func (f *Files) keep(ctx context.Context, name string, content []byte) error {
	hash := hashOf(content)
	if last, ok := f.saved.Load(name); ok && last == hash {
		return nil
	}
	if err := f.versions.Save(ctx, name, hash, content); err != nil {
		return fmt.Errorf("save a version of %s: %w", name, err)
	}
	f.saved.Store(name, hash)
	return nil
}

func hashOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// clean makes the content of a file, or a text of a model, fit for a JSON request.
func clean(content []byte) string {
	text := strings.TrimPrefix(string(content), "\uFEFF")
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	return strings.TrimSpace(text)
}

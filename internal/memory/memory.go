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

// Read returns the facts of a scope and their version for [Files.Update]. A file
// that is not there is an empty text with an empty version. What a model could not
// give back as it was, for it is longer than [Limit] or not UTF-8, is [ErrUnusable].
func (f *Files) Read(ctx context.Context, scope Scope) (text, version string, err error) {
	root, err := f.open()
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	name := scope.Facts()
	now, err := readOwn(root, name)
	if err == nil {
		err = consolidable(now.content)
	}
	if err != nil {
		return "", "", fmt.Errorf("read %s: %w", name, unusable(err))
	}
	if now.hash != "" {
		err = f.keep(ctx, name, now.content)
	}
	return clean(now.content), now.hash, err
}

// Update replaces the facts of a scope by text, provided that they still are the
// version base, as [Files.Read] gave it; else it returns [ErrChanged]. It is on
// the disk on return. To do it again is no change, and to forget everything is
// left to people: a text that says nothing changes nothing.
func (f *Files) Update(ctx context.Context, scope Scope, base, text string) error {
	text = clean([]byte(text))
	if saysNothing(text) {
		return nil
	}
	return f.write(ctx, scope.Facts(), func(w *writer) error {
		if err := w.settle(ctx); err != nil {
			return err
		}
		now, err := w.look(ctx)
		if err != nil || clean(now.content) == text {
			return err
		}
		if err := consolidable(now.content); err != nil {
			return fmt.Errorf("write %s: %w", w.path, unusable(err))
		}
		return w.replace(ctx, base, []byte(text+"\n"))
	})
}

// Owns reports whether a file, with a path in the workspace, is one of memory's:
// those are to be replaced by [Files.Replace] only.
func (f *Files) Owns(name string) bool {
	name = path.Clean(filepath.ToSlash(name))
	return strings.HasPrefix(name, folder+"/") && strings.EqualFold(path.Ext(name), ".md")
}

// Replace is [Files.Update] for the agent's tools: of any file that memory owns,
// with content as it is. base is the hex SHA-256 of the version that the change is
// based on, empty if there was no file.
func (f *Files) Replace(ctx context.Context, name, base string, content []byte) error {
	if !f.Owns(name) {
		return fmt.Errorf("%s is no file of memory", name)
	}
	return f.write(ctx, path.Clean(filepath.ToSlash(name)), func(w *writer) error {
		return w.replace(ctx, base, content)
	})
}

// write calls do with a writer of the file while no other of ours writes.
func (f *Files) write(ctx context.Context, name string, do func(*writer) error) error {
	return f.locked(ctx, path.Dir(name), func(dir *os.Root) error {
		return do(&writer{files: f, root: dir, name: path.Base(name), path: name})
	})
}

// locked calls do with a folder while no other writer of ours writes.
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
		return fmt.Errorf("open the folder %s: %w", name, unusable(err))
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

package fs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// Memory replaces the agent's memory files, which others write as well, without
// losing a version.
type Memory interface {
	// Owns reports whether a workspace path is a memory file.
	Owns(name string) bool
	// Replace replaces a file that still has the hash base, or returns
	// [memory.ErrChanged].
	Replace(ctx context.Context, name, base string, content []byte) error
}

// memoryPath returns the workspace path of a file that memory owns; empty for other
// files.
func (p place) memoryPath() string {
	name, in := within(p.tree.real, filepath.Join(p.root.Name(), p.name))
	if !in || p.tree.memory == nil || !p.tree.memory.Owns(filepath.ToSlash(name)) {
		return ""
	}
	return filepath.ToSlash(name)
}

// replaceMemory is [place.replace] for a memory file.
func (p place) replaceMemory(ctx context.Context, c change, want intent) error {
	now, err := fingerprint(p.root, p.name)
	if err != nil || now == want.After {
		return err
	}
	err = p.tree.memory.Replace(ctx, p.memoryPath(), want.Before, c.content)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, memory.ErrChanged):
		return errChanged
	default:
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
}

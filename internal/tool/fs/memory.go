package fs

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/holdfast-ai/holdfast/internal/memory"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// Memory replaces the files in which the agent remembers: others write them too,
// and no version of them is lost.
type Memory interface {
	// Owns reports whether a file, with a path in the workspace, is one of memory's.
	Owns(name string) bool
	// Replace replaces a file that still has the hash base; else it returns
	// [memory.ErrChanged].
	Replace(ctx context.Context, name, base string, content []byte) error
}

// remembered is the path in the workspace of a file that memory owns; empty for
// any other.
func (p place) remembered() string {
	name, in := within(p.tree.real, filepath.Join(p.root.Name(), p.name))
	if !in || p.tree.memory == nil || !p.tree.memory.Owns(filepath.ToSlash(name)) {
		return ""
	}
	return filepath.ToSlash(name)
}

// remember is [place.replace] for a file of memory.
func (p place) remember(ctx context.Context, c change, want intent) error {
	now, err := fingerprint(p.root, p.name)
	if err != nil || now == want.After {
		return err
	}
	err = p.tree.memory.Replace(ctx, p.remembered(), want.Before, c.content)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, memory.ErrChanged):
		return errChanged
	default:
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
}

package memory

import (
	"context"
	"fmt"
)

// Present returns the facts of a scope as they are in the file, for people, with
// the version that they are; nothing if there is no file.
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

// Restore makes content, as it was kept once, the facts of a scope again. What they
// are now is kept as well; if somebody else changes them just then it returns
// [ErrChanged]. It is on the disk on return.
func (f *Files) Restore(ctx context.Context, scope Scope, content []byte) error {
	return f.write(ctx, scope.Facts(), func(w *writer) error {
		if err := w.settle(ctx); err != nil {
			return err
		}
		now, err := w.look(ctx)
		if err != nil {
			return err
		}
		return w.replace(ctx, now.hash, content)
	})
}

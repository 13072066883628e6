package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Condition is how [Check] found the memory of a scope.
type Condition struct {
	Scope    string  // its name
	Size     int     // bytes of MEMORY.md
	Problems []error // why nothing can be taken in: each names a file and says what to do
}

// Check looks at the memory of the workspace, which comes first, and at that of
// each scope that has a folder, and changes nothing. The error is for a workspace
// that cannot be opened.
func Check(workspace string) ([]Condition, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	shared := condition(root, Scope{})
	entries, err := fs.ReadDir(root.FS(), folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		shared.Problems = []error{fmt.Errorf("%s: %w", folder, unusable(err))}
	}
	found := []Condition{shared}
	for _, entry := range entries {
		if scope, err := ParseScope(entry.Name()); err == nil && !scope.shared() {
			found = append(found, condition(root, scope))
		}
	}
	return found, nil
}

func condition(root *os.Root, scope Scope) Condition {
	c := Condition{Scope: scope.String()}
	now, err := readOwn(root, scope.Facts())
	if err == nil {
		err = consolidable(now.content)
	}
	c.Size = len(now.content)
	c.add(scope.Facts(), err)
	log, _, err := openRegular(root, scope.file(historyFile), os.O_RDWR)
	if err == nil {
		err = log.Close()
	}
	c.add(scope.file(historyFile), err)
	return c
}

// add adds why a file cannot be used, unless it is just not there.
func (c *Condition) add(name string, err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Problems = append(c.Problems, fmt.Errorf("%s: %w", name, unusable(err)))
	}
}

package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/holdfast-ai/holdfast/internal/safefile"
)

// scopeLimit bounds the scopes that Check looks at.
const scopeLimit = 10_000

// Condition is the state of one scope's memory.
type Condition struct {
	Scope    string  // its name
	Size     int     // bytes of MEMORY.md
	Problems []error // why it cannot be consolidated: each names a file and a remedy
}

// Check returns the state of the workspace's memory, first, and of each scope that
// has a folder. It changes nothing, and fails only if the workspace cannot be opened.
func Check(workspace string) ([]Condition, error) {
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	defer root.Close()
	shared := condition(root, Scope{})
	entries, err := safefile.ReadDir(root, folder, scopeLimit)
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
	log, _, err := safefile.Open(root, scope.file(historyFile), os.O_RDWR)
	if err == nil {
		err = log.Close()
	}
	c.add(scope.file(historyFile), err)
	return c
}

// add records why a file cannot be used. A missing file is no problem.
func (c *Condition) add(name string, err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		c.Problems = append(c.Problems, fmt.Errorf("%s: %w", name, unusable(err)))
	}
}

// Package fs has the agent's tools for files: reading, searching, writing and
// editing them, kept inside the workspace.
package fs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// resultLimit bounds, in bytes, the text that a tool here returns. It is below
// the 16,000 characters of a tool result that a model sees, so that what a tool
// says about the rest (where to read on) is never cut off.
const resultLimit = 15_000

// Options is what the file tools need.
type Options struct {
	Workspace string // a directory that exists; relative paths are in it
	Restrict  bool   // refuse every path that leads out of Workspace
	Memory    Memory // writes the files that it owns; nil: they are files like any other
}

// New returns read_file, list_dir, find_files, grep, write_file, edit_file and
// apply_patch. The workspace is opened anew by each call, so it may be replaced
// meanwhile.
//
// Reading tools are repeatable. The others are keyed: they note in the call's
// journal what each file was and will be, and then replace it by a rename, so
// that it is always either the old or the new one.
func New(o Options) ([]tool.Tool, error) {
	t, err := newTree(o)
	if err != nil {
		return nil, err
	}
	var tools []tool.Tool
	var errs []error
	add := func(made tool.Tool, err error) {
		made.ReadOnly = made.Kind == tool.Repeatable
		tools, errs = append(tools, made), append(errs, err)
	}
	add(tool.New("read_file", readDescription, tool.Repeatable, t.readFile))
	add(tool.New("list_dir", listDescription, tool.Repeatable, t.listDir))
	add(tool.New("find_files", findDescription, tool.Repeatable, t.findFiles))
	add(tool.New("grep", grepDescription, tool.Repeatable, t.grep))
	add(tool.New("write_file", writeDescription, tool.Keyed, t.writeFile))
	add(tool.New("edit_file", editDescription, tool.Keyed, t.editFile))
	add(tool.New("apply_patch", patchDescription, tool.Keyed, t.applyPatch))
	return tools, errors.Join(errs...)
}

func newTree(o Options) (tree, error) {
	dir, err := filepath.Abs(o.Workspace)
	if err != nil {
		return tree{}, fmt.Errorf("workspace: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return tree{}, fmt.Errorf("workspace: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return tree{}, fmt.Errorf("workspace: %w", err)
	}
	if !info.IsDir() {
		return tree{}, fmt.Errorf("workspace %s is not a directory", dir)
	}
	return tree{dir: dir, real: real, restrict: o.Restrict, memory: o.Memory}, nil
}

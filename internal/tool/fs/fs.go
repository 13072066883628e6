// Package fs has the agent's file tools, which read, search, write and edit files in
// the workspace.
package fs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// resultLimit is the maximum size of a result in bytes. It is below the 16,000
// characters of a tool result that a model sees, so that a closing note, such as
// where to continue, is never cut off.
const resultLimit = 15_000

// Options configure the file tools.
type Options struct {
	Workspace string // an existing directory; relative paths start here
	Restrict  bool   // refuse paths outside Workspace
	Memory    Memory // writes the files that it owns; nil: no file is special
}

// New returns read_file, list_dir, find_files, grep, write_file, edit_file and
// apply_patch.
//
// The reading tools are repeatable. The others are keyed: they record each file's
// old and new hash in the call's journal and then replace the file atomically by a
// rename.
func New(o Options) ([]tool.Tool, error) {
	t, err := newTree(o)
	if err != nil {
		return nil, err
	}
	tools := []tool.Tool{
		tool.New("read_file", readDescription, tool.Repeatable, t.readFile),
		tool.New("list_dir", listDescription, tool.Repeatable, t.listDir),
		tool.New("find_files", findDescription, tool.Repeatable, t.findFiles),
		tool.New("grep", grepDescription, tool.Repeatable, t.grep),
		tool.New("write_file", writeDescription, tool.Keyed, t.writeFile),
		tool.New("edit_file", editDescription, tool.Keyed, t.editFile),
		tool.New("apply_patch", patchDescription, tool.Keyed, t.applyPatch),
	}
	for i := range tools {
		tools[i].ReadOnly = tools[i].Kind == tool.Repeatable
		tools[i].SubjectOf = t.subject
	}
	return tools, nil
}

// subject returns the paths that a call names.
func (t tree) subject(arguments json.RawMessage) tool.Subject {
	var args struct{ Path, Patch string }
	// Invalid arguments name no path; Run reports them.
	_ = json.Unmarshal(arguments, &args)
	if args.Patch == "" {
		return tool.PathSubject(t.dir, args.Path)
	}
	sections, _ := parsePatch(args.Patch)
	var paths []string
	for _, s := range sections {
		paths = append(paths, s.path)
		if s.moveTo != "" {
			paths = append(paths, s.moveTo)
		}
	}
	return tool.PathSubject(t.dir, paths...)
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
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return tree{}, fmt.Errorf("workspace %s is not a directory", dir)
	}
	return tree{dir: dir, real: real, restrict: o.Restrict, memory: o.Memory}, nil
}

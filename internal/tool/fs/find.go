package fs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

const findDescription = `Find files under path by name: * ? [a-z] {a,b}, ** for any directories (docs/**/*.md). Without a slash,
names match at any depth.`

const (
	findLimit = 200     // paths in a result
	walkLimit = 200_000 // files and directories to visit
)

type findArgs struct {
	Pattern string `json:"pattern"`
	Path    string `json:"path,omitempty"`
}

func (t tree) findFiles(ctx context.Context, _ tool.Call, args findArgs) (tool.Result, error) {
	match, err := globber(args.Pattern)
	if err != nil {
		return tool.Result{}, err
	}
	p, err := t.at(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.close()

	var found []string
	size := 0
	notes, err := p.walk(ctx, func(name, rel string) error {
		if !match(rel) {
			return nil
		}
		shown := p.show(name)
		if size += len(shown) + 1; len(found) == findLimit || size > resultLimit {
			return errEnough
		}
		found = append(found, shown)
		return nil
	})
	if err != nil {
		return tool.Result{}, err
	}
	slices.Sort(found)
	text := strings.Join(found, "\n")
	if len(found) == 0 {
		text = fmt.Sprintf("no file matches %q", args.Pattern)
	}
	return tool.Result{Text: text + notes}, nil
}

// globber returns a matcher of slash-separated paths.
func globber(pattern string) (func(rel string) bool, error) {
	if !doublestar.ValidatePattern(pattern) {
		return nil, fmt.Errorf("%q is not a valid pattern; use * ? [a-z] {a,b} and **", pattern)
	}
	pattern = strings.TrimPrefix(pattern, "./")
	byName := !strings.Contains(pattern, "/")
	return func(rel string) bool {
		if byName {
			rel = path.Base(rel)
		}
		return doublestar.MatchUnvalidated(pattern, rel)
	}, nil
}

// errEnough ends a walk whose result is full.
var errEnough = errors.New("result is full")

// walk calls visit for each file below p, or for p itself if it is a file. It skips
// .git and does not follow links. name is the file's name in p's root, rel its
// slash-separated path relative to p. The notes, if any, tell the model what was
// left out.
func (p place) walk(ctx context.Context, visit func(name, rel string) error) (notes string, err error) {
	start := filepath.ToSlash(p.name)
	if _, err := p.root.Stat(p.name); err != nil {
		return "", explain(p.show(p.name), err)
	}
	seen, unreadable := 0, 0
	err = fs.WalkDir(p.root.FS(), start, func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if seen++; seen > walkLimit {
			return errEnough
		}
		switch {
		case err != nil:
			unreadable++
			return nil //nolint:nilerr // counted and reported in the notes
		case entry.IsDir() && entry.Name() == ".git" && name != start:
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(name, start), "/")
		if start == "." || rel == "" {
			rel = name
		}
		return visit(filepath.FromSlash(name), rel)
	})
	switch {
	case errors.Is(err, errEnough):
		notes = "\n[more results; narrow the search by path or pattern]"
	case err != nil:
		return "", err
	}
	if unreadable > 0 {
		notes += fmt.Sprintf("\n[%d files or directories could not be read]", unreadable)
	}
	return notes, nil
}

package tool

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// Subject is what the patterns of approval rules are compared with.
type Subject struct {
	Each []string // an allow rule must match all of these, another rule any
	Also []string // an ask or deny rule may match one of these instead
}

// Subject returns the subject of a call with these arguments: what [Tool.SubjectOf] says,
// and its title.
func (t Tool) Subject(arguments json.RawMessage) (s Subject) {
	if t.SubjectOf != nil {
		s = t.SubjectOf(arguments)
	}
	title := t.Title(arguments)
	if len(s.Each) == 0 {
		return Subject{Each: []string{title}, Also: s.Also}
	}
	return Subject{Each: s.Each, Also: append(s.Also, title)}
}

// PathSubject returns the subject of a call that is about these paths, however they are
// written: clean paths, relative to the workspace if they are in it, both as named and
// without symbolic links.
func PathSubject(workspace string, paths ...string) (s Subject) {
	real := WithoutLinks(workspace)
	for _, path := range paths {
		if !filepath.IsAbs(path) {
			path = filepath.Join(real, path)
		}
		path = filepath.Clean(path)
		s.add(workspace, real, path)
		if place := WithoutLinks(path); place != path {
			s.add(workspace, real, place)
		}
	}
	return s
}

// add adds a clean, absolute path. Rules may write it in other ways, and may mean a folder
// by what is in it.
func (s *Subject) add(workspace, real, path string) {
	written := []string{path}
	for _, dir := range []string{workspace, real} {
		if name, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(name) {
			written = []string{name, "./" + name, filepath.Join(workspace, name), filepath.Join(real, name)}
		}
	}
	s.Each = append(s.Each, written[0])
	for _, path := range written {
		s.Also = append(s.Also, path, path+"/")
	}
}

// Mentioned returns the subject of a call that is about something else and names these
// paths too.
func (s Subject) Mentioned() Subject { return Subject{Also: append(s.Also, s.Each...)} }

// longestPath bounds, in bytes, the paths whose links are resolved: Linux's limit.
const longestPath = 4096

// WithoutLinks resolves the symbolic links in the existing part of a path.
func WithoutLinks(path string) string {
	path = filepath.Clean(path)
	if len(path) > longestPath || strings.ContainsRune(path, 0) {
		return path
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(WithoutLinks(parent), filepath.Base(path))
}

package fs

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// plan is the effect of a patch, computed before any file is changed.
type plan struct {
	tree  tree
	files []*patchFile // in the order of the patch
}

// patchFile is a file of a patch: first its state on disk, then, updated section by
// section, the state that the patch gives it.
type patchFile struct {
	place  place
	before string // hash on disk

	exists  bool
	content []byte // nil if unchanged
	mode    os.FileMode
	movedTo *patchFile // where its content was moved; nil if it was not
	from    string     // path that its content was moved from
	at      []int      // changed lines
	notes   []string
	refusal error // why the patch does not apply

	noted   intent
	fresh   bool
	earlier bool  // an earlier attempt made the change
	failed  error // why the change failed
}

func (p *plan) close() {
	for _, f := range p.files {
		f.place.close()
	}
}

// add applies a section to the plan. Mismatches are recorded with the file; an error
// means that the patch is invalid regardless of the files.
func (p *plan) add(ctx context.Context, s section) error {
	f, err := p.file(s.path)
	if err != nil {
		return err
	}
	var to *patchFile
	if s.moveTo != "" {
		if to, err = p.file(s.moveTo); err != nil {
			return err
		}
	}
	switch {
	case f.refusal != nil:
	case f.movedTo != nil:
		f.refusal = fmt.Errorf("%s: an earlier section moves it to %s; use that path", f.shown(), f.movedTo.shown())
	case s.operation == addFile && f.exists:
		f.refusal = fmt.Errorf("%s already exists; update it, or delete it first in the same patch", f.shown())
	case s.operation == addFile:
		f.exists, f.content = true, s.content()
	case !f.exists:
		f.refusal = explain(f.shown(), os.ErrNotExist)
	case s.operation == deleteFile:
		f.exists, f.content = false, nil
	default:
		f.refusal = f.update(ctx, s.hunks)
	}
	if to != nil && to != f {
		f.move(to)
	}
	return nil
}

// file returns the file of a path, the same one for different spellings.
func (p *plan) file(path string) (*patchFile, error) {
	at, err := p.tree.at(path)
	if err != nil {
		return nil, err
	}
	for _, f := range p.files {
		if f.place.name == at.name {
			at.close()
			return f, nil
		}
	}
	f := &patchFile{place: at}
	p.files = append(p.files, f)
	if len(p.files) > patchFiles {
		return nil, fmt.Errorf("the patch changes more than %d files; split it", patchFiles)
	}
	if f.before, err = fingerprint(at.root, at.name); err != nil {
		f.before, f.refusal = "unreadable", explain(f.shown(), err)
	}
	f.exists = f.before != ""
	return f, nil
}

func (f *patchFile) shown() string { return f.place.show(f.place.name) }

// update applies hunks to the file's planned content.
func (f *patchFile) update(ctx context.Context, hunks []hunk) error {
	if f.content == nil {
		content, err := f.place.content()
		if err != nil {
			return explain(f.shown(), err)
		}
		f.before, f.content, f.mode = hash(content), content, modeOf(f.place.root, f.place.name)
	}
	if len(hunks) == 0 {
		return nil
	}
	made, err := patchContent(ctx, f.content, hunks)
	if err != nil {
		return fmt.Errorf("%s: %w", f.shown(), err)
	}
	if string(made.content) == string(f.content) {
		return fmt.Errorf("%s: the patch removes and adds the same lines", f.shown())
	}
	f.content, f.at, f.notes = made.content, made.at, append(f.notes, made.notes...)
	return nil
}

// move moves the file's content to another file, which must not exist.
func (f *patchFile) move(to *patchFile) {
	if f.refusal != nil {
		return
	}
	if to.refusal == nil && to.exists {
		to.refusal = fmt.Errorf("%s already exists; cannot move %s there", to.shown(), f.shown())
	}
	if to.refusal == nil {
		to.exists, to.content, to.mode = true, f.content, f.mode
		to.from, to.at, to.notes = f.shown(), f.at, f.notes
	}
	f.exists, f.content, f.movedTo, f.at, f.notes = false, nil, to, nil, nil
}

// change returns the change that the whole patch makes to the file.
func (f *patchFile) change() change {
	return change{before: f.before, content: f.content, remove: !f.exists, mode: f.mode, refusal: f.refusal}
}

// describe reports what was done to the file; empty if it existed only in between.
func (f *patchFile) describe() string {
	var line strings.Builder
	switch {
	case f.noted.Before == "" && f.noted.After == "":
		return ""
	case f.noted.After == "":
		line.WriteString("deleted ")
	case f.noted.Before == "":
		line.WriteString("added ")
	default:
		line.WriteString("updated ")
	}
	line.WriteString(f.shown())
	if f.from != "" {
		line.WriteString(", moved from " + f.from)
	}
	if len(f.at) > 0 && !f.earlier {
		line.WriteString(", at line " + list(f.at))
	}
	line.WriteString(doneEarlier(f.earlier))
	for _, note := range f.notes {
		line.WriteString("\n[" + note + "]")
	}
	return line.String()
}

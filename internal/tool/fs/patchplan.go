package fs

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// plan is what a patch makes of files. It is made without changing any.
type plan struct {
	tree  tree
	files []*patchFile // in the order in which the patch names them
}

// patchFile is a file that a patch touches, first as it is, and then, section by
// section, as it will be.
type patchFile struct {
	place  place
	before string // its hash on the disk

	exists  bool
	content []byte // nil as long as it is as on the disk
	mode    os.FileMode
	movedTo *patchFile // the one that has its content now; nil for none
	from    string     // where its content was before
	at      []int      // the lines that changed
	notes   []string
	refusal error // why the patch does not fit it

	noted   intent
	fresh   bool
	earlier bool  // an earlier attempt made the change
	failed  error // why it could not be made
}

func (p *plan) close() {
	for _, f := range p.files {
		f.place.close()
	}
}

// add takes in what a section does. What does not fit is noted with the file; an
// error says that the patch cannot be applied whatever is in the files.
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
		f.refusal = fmt.Errorf("%s: the patch moves it to %s before; use that path", f.shown(), f.movedTo.shown())
	case s.operation == addFile && f.exists:
		f.refusal = fmt.Errorf("%s exists already; update it, or delete it first in the same patch", f.shown())
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

// file is the one of a path, which may be written in several ways.
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
		return nil, fmt.Errorf("the patch touches more than %d files; divide it", patchFiles)
	}
	if f.before, err = fingerprint(at.root, at.name); err != nil {
		f.before, f.refusal = "unreadable", explain(f.shown(), err)
	}
	f.exists = f.before != ""
	return f, nil
}

func (f *patchFile) shown() string { return f.place.show(f.place.name) }

// update applies hunks to what the file has so far.
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
		return fmt.Errorf("%s: the patch adds the same lines that it removes", f.shown())
	}
	f.content, f.at, f.notes = made.content, made.at, append(f.notes, made.notes...)
	return nil
}

// move gives the file's content to another one, which must not exist.
func (f *patchFile) move(to *patchFile) {
	if f.refusal != nil {
		return
	}
	if to.refusal == nil && to.exists {
		to.refusal = fmt.Errorf("%s exists already; %s cannot be moved there", to.shown(), f.shown())
	}
	if to.refusal == nil {
		to.exists, to.content, to.mode = true, f.content, f.mode
		to.from, to.at, to.notes = f.shown(), f.at, f.notes
	}
	f.exists, f.content, f.movedTo, f.at, f.notes = false, nil, to, nil, nil
}

// change is what the whole patch makes of the file.
func (f *patchFile) change() change {
	return change{before: f.before, content: f.content, remove: !f.exists, mode: f.mode, refusal: f.refusal}
}

// describe says what was done to the file, nothing if it only was one on the way.
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

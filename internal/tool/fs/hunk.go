package fs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// edit replaces the lines [from, to) of a file.
type edit struct {
	from, to int
	lines    []string // with line breaks
}

// patching is a file while hunks are applied to it.
type patching struct {
	lines []string // with line breaks
	eol   string
	edits []edit
	next  int      // end of the previous hunk
	notes []string // remarks for the model
}

// patched is a file after its hunks were applied.
type patched struct {
	content []byte
	at      []int // lines of the hunks, from 1, in the new content
	notes   []string
}

// patchContent applies hunks to a file's content. Context lines keep the file's
// spelling, whatever the hunks have. The error tells the model all mismatches.
func patchContent(ctx context.Context, content []byte, hunks []hunk) (patched, error) {
	p := patching{eol: "\n"}
	for line := range bytes.Lines(content) {
		p.lines = append(p.lines, string(line))
	}
	if len(p.lines) > 0 && strings.HasSuffix(p.lines[0], "\r\n") {
		p.eol = "\r\n"
	}
	var errs []error
	for _, h := range hunks {
		if err := p.apply(ctx, h); err != nil {
			errs = append(errs, err)
		}
		if ctx.Err() != nil {
			return patched{}, context.Cause(ctx)
		}
	}
	if len(errs) > 0 {
		return patched{}, errors.Join(errs...)
	}
	return p.result(), nil
}

// apply finds the hunk's place and records the edit, from the first to the last
// changed line, so that adjacent hunks may share context lines.
func (p *patching) apply(ctx context.Context, h hunk) error {
	at, err := p.find(ctx, &h)
	if err != nil {
		return err
	}
	e := edit{from: -1}
	var stay []string // context lines, part of the edit if another change follows
	for _, line := range h.lines {
		if line.sign == ' ' {
			stay = append(stay, p.lines[at])
			at++
			continue
		}
		if e.from < 0 {
			e.from, stay = at, nil
		}
		e.lines, stay = append(e.lines, stay...), nil
		if line.sign == '-' {
			at++
		} else {
			e.lines = append(e.lines, line.text+p.eol)
		}
		e.to = at
	}
	p.edits = append(p.edits, e)
	p.next = e.to
	return nil
}

func (p *patching) notef(h *hunk, format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf("hunk %d ", h.number)+fmt.Sprintf(format, args...))
}

// result applies the edits to the file. The last line has a line break if it had one
// before.
func (p *patching) result() patched {
	slices.SortStableFunc(p.edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	out := patched{notes: p.notes}
	var lines []string
	done := 0
	for _, e := range p.edits {
		lines = append(lines, p.lines[done:e.from]...)
		out.at = append(out.at, len(lines)+1)
		lines = append(lines, e.lines...)
		done = e.to
	}
	lines = append(lines, p.lines[done:]...)
	open := len(p.lines) > 0 && !strings.HasSuffix(p.lines[len(p.lines)-1], "\n")
	for i, line := range lines {
		switch last := i == len(lines)-1; {
		case last && open:
			lines[i] = body(line)
		case !strings.HasSuffix(line, "\n"):
			lines[i] = line + p.eol
		}
	}
	out.content = []byte(strings.Join(lines, ""))
	return out
}

// body returns a line without its line break.
func body(line string) string {
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
}

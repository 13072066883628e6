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

// edit replaces the lines of a file from one up to, not including, another.
type edit struct {
	from, to int
	lines    []string // with their ends
}

// patching is a file while hunks are applied to it.
type patching struct {
	lines []string // with their ends
	eol   string
	edits []edit
	next  int      // where the hunk before ended
	notes []string // what a model should know of how it went
}

// patched is what hunks made of a file.
type patched struct {
	content []byte
	at      []int // the lines, from 1, where the hunks are in it now
	notes   []string
}

// patchContent applies hunks to a file's content. Lines that stay are left as
// the file has them, however the hunks write them. The error is for the model
// and says all that does not match.
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

// apply finds the hunk's place and notes the edit: what is between the first and
// the last line that changes, so that neighbours may have others in common.
func (p *patching) apply(ctx context.Context, h hunk) error {
	at, err := p.find(ctx, &h)
	if err != nil {
		return err
	}
	e := edit{from: -1}
	var stay []string // lines that only belong to the edit if another change follows
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

// result puts the edits into the file. It ends as the file did: with the end of
// a line, or without.
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

// body is a line without its end.
func body(line string) string {
	return strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
}

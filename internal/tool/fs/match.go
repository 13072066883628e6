package fs

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// lookAlikes maps typographic characters to the plain ones that models and editors
// confuse them with.
var lookAlikes = strings.NewReplacer(
	"‐", "-", "‑", "-", "‒", "-", "–", "-", "—", "-", "―", "-", "−", "-",
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "“", `"`, "”", `"`, "„", `"`, "‟", `"`, "…", "...",
	"\u00a0", " ", "\u2002", " ", "\u2003", " ", "\u2007", " ", "\u2009", " ", "\u200a", " ", "\u202f", " ", "\u3000", " ",
)

// fuzz is a way of comparing lines, in increasing tolerance.
type fuzz struct {
	ignores string // differences that it ignores, for the model; empty if none
	key     func(line string) string
}

var fuzzes = []fuzz{
	{"", func(line string) string { return line }},
	{"trailing white space", func(line string) string { return strings.TrimRight(line, " \t\r") }},
	{"leading and trailing white space", strings.TrimSpace},
	{"white space around lines and the style of quotes, dashes and spaces", plain},
}

func plain(line string) string { return strings.TrimSpace(lookAlikes.Replace(line)) }

// find returns the line where the hunk applies.
func (p *patching) find(ctx context.Context, h *hunk) (int, error) {
	start, anchored := p.anchor(ctx, h)
	old := h.old()
	if at, found, err := p.place(ctx, h, old, start, anchored); found || err != nil {
		return at, err
	}
	// Trailing blank lines may only separate the hunk from what follows.
	for n := len(h.lines); n > 0 && h.lines[n-1] == (hunkLine{' ', ""}); n-- {
		h.lines = h.lines[:n-1]
	}
	if at, found, err := p.place(ctx, h, h.old(), start, anchored); found || err != nil {
		return at, err
	}
	return 0, p.mismatch(h.number, old)
}

func (p *patching) place(ctx context.Context, h *hunk, old []string, start int, anchored bool) (at int, found bool, err error) {
	if len(old) == 0 {
		at, err := p.insertion(h, start, anchored)
		return at, true, err
	}
	for _, f := range fuzzes {
		found := p.matches(ctx, old, f)
		if len(found) == 0 {
			continue
		}
		at, err := p.choose(h, found, start, anchored)
		if err == nil && f.ignores != "" {
			p.notef(h, "matches only when ignoring %s; check the added lines", f.ignores)
		}
		return at, true, err
	}
	return 0, false, nil
}

// insertion returns where a hunk goes that only adds lines.
func (p *patching) insertion(h *hunk, start int, anchored bool) (int, error) {
	switch {
	case anchored:
		return start + 1, nil
	case len(h.anchors) > 0:
		return 0, fmt.Errorf("hunk %d: line %q not found", h.number, cutLine(h.anchors[len(h.anchors)-1]))
	}
	p.notef(h, "has no context; its lines were added at the end")
	return len(p.lines), nil
}

// anchor returns the line of the hunk's innermost anchor.
func (p *patching) anchor(ctx context.Context, h *hunk) (at int, found bool) {
	from := p.next
	for _, anchor := range h.anchors {
		at, found = p.seek(ctx, anchor, from)
		if !found {
			return 0, false
		}
		from = at + 1
	}
	return at, found
}

// seek finds the first line that equals text, or at least contains it, starting at
// from and wrapping around at the end.
func (p *patching) seek(ctx context.Context, text string, from int) (int, bool) {
	for _, f := range fuzzes {
		if found := p.matches(ctx, []string{text}, f); len(found) > 0 {
			i, _ := slices.BinarySearch(found, from)
			return found[i%len(found)], true
		}
	}
	wanted, first := plain(text), -1
	for i, line := range p.lines {
		if !strings.Contains(plain(line), wanted) || p.edited(i, i+1) {
			continue
		}
		if i >= from {
			return i, true
		}
		if first < 0 {
			first = i
		}
	}
	return first, first >= 0
}

// matches returns where the file has the lines, outside of earlier edits.
func (p *patching) matches(ctx context.Context, lines []string, f fuzz) []int {
	keys := make([]string, len(lines))
	for i, line := range lines {
		keys[i] = f.key(line)
	}
	var found []int
	for at := 0; at+len(keys) <= len(p.lines) && ctx.Err() == nil; at++ {
		if p.matchesAt(at, keys, f) && !p.edited(at, at+len(keys)) {
			found = append(found, at)
		}
	}
	return found
}

func (p *patching) matchesAt(at int, keys []string, f fuzz) bool {
	for i, key := range keys {
		if f.key(body(p.lines[at+i])) != key {
			return false
		}
	}
	return true
}

func (p *patching) edited(from, to int) bool {
	return slices.ContainsFunc(p.edits, func(e edit) bool { return from < e.to && e.from < to })
}

// choose selects one of the places where the hunk matches.
func (p *patching) choose(h *hunk, found []int, start int, anchored bool) (int, error) {
	if last := found[len(found)-1]; h.atEnd && last+len(h.old()) == len(p.lines) {
		return last, nil
	}
	if anchored {
		if i, _ := slices.BinarySearch(found, start); i < len(found) {
			return found[i], nil
		}
	}
	if i, _ := slices.BinarySearch(found, p.next); i < len(found) {
		found = found[i:]
	}
	if len(found) > 1 {
		numbers := make([]int, len(found))
		for i, at := range found {
			numbers[i] = at + 1
		}
		return 0, fmt.Errorf("hunk %d matches at several lines: %s; add more context lines, or %q with a line that precedes the right place",
			h.number, list(numbers), anchorMark)
	}
	if len(h.anchors) > 0 {
		p.notef(h, "does not follow the line that its %s names, but matches only once", anchorMark)
	}
	return found[0], nil
}

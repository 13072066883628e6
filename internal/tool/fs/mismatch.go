package fs

import (
	"fmt"
	"strings"
)

const shownLines = 4 // of a hunk, in an error

// mismatch returns the error for a hunk whose lines were not found, with the most
// similar place.
func (p *patching) mismatch(number int, old []string) error {
	var wanted strings.Builder
	for i, line := range old {
		if i == shownLines {
			fmt.Fprintf(&wanted, "\n\t… and %d more", len(old)-i)
			break
		}
		wanted.WriteString("\n\t" + cutLine(line))
	}
	return fmt.Errorf("hunk %d not found; the file should have these lines:%s\n%s; read the file there and copy its lines exactly",
		number, &wanted, p.nearest(old))
}

// nearest describes the place that matches most of the lines.
func (p *patching) nearest(old []string) string {
	at, same := p.mostAlike(old)
	if same == 0 {
		number, line := closest([]byte(strings.Join(p.lines, "")), strings.Join(old, "\n"))
		if number == 0 {
			return "no line is similar"
		}
		return fmt.Sprintf("the line most similar to the first is line %d: %q", number, cutLine(line))
	}
	for i, line := range old {
		switch {
		case at+i >= len(p.lines):
			return fmt.Sprintf("most of them are at line %d, but the file ends before %q", at+1, cutLine(line))
		case plain(body(p.lines[at+i])) != plain(line):
			return fmt.Sprintf("most of them are at line %d, but line %d is %q, not %q",
				at+1, at+i+1, cutLine(body(p.lines[at+i])), cutLine(line))
		}
	}
	return fmt.Sprintf("they are at line %d, but an earlier hunk changes that place", at+1)
}

const compareLines = 100 // of a hunk, to find a similar place

// mostAlike returns the place that matches most of the lines, and how many. Blank
// lines do not count.
func (p *patching) mostAlike(old []string) (at, same int) {
	old = old[:min(len(old), compareLines)]
	keys := make([]string, len(old))
	for i, line := range old {
		keys[i] = plain(line)
	}
	file := make([]string, min(len(p.lines), searchLimit))
	for i := range file {
		file[i] = plain(body(p.lines[i]))
	}
	for start := range file {
		n := 0
		for i := 0; i < len(keys) && start+i < len(file); i++ {
			if keys[i] != "" && keys[i] == file[start+i] {
				n++
			}
		}
		if n > same {
			at, same = start, n
		}
	}
	return at, same
}

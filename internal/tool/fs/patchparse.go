package fs

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/text"
)

// The lines that structure a patch.
const (
	beginMark  = "*** Begin Patch"
	endMark    = "*** End Patch"
	addMark    = "*** Add File:"
	updateMark = "*** Update File:"
	deleteMark = "*** Delete File:"
	moveMark   = "*** Move to:"
	eofMark    = "*** End of File"
	anchorMark = "@@"
)

// operation is the kind of a section of a patch.
type operation int

const (
	addFile operation = iota
	updateFile
	deleteFile
)

// headers are the lines that start a section.
var headers = []struct {
	mark      string
	operation operation
}{{addMark, addFile}, {updateMark, updateFile}, {deleteMark, deleteFile}}

// section is the part of a patch for one file.
type section struct {
	operation operation
	path      string
	moveTo    string // the file's new path; empty if it stays
	added     []string
	hunks     []hunk
}

// hunk is one place of a file that a patch changes.
type hunk struct {
	number  int      // from 1, in its section
	anchors []string // lines that precede it in the file, outermost first
	lines   []hunkLine
	atEnd   bool // its last line is the file's last line
}

// hunkLine is a line of a hunk. Its sign is ' ' for context, '-' for a removed and
// '+' for an added line.
type hunkLine struct {
	sign byte
	text string
}

// old returns the lines that the file must have.
func (h hunk) old() []string {
	var old []string
	for _, line := range h.lines {
		if line.sign != '+' {
			old = append(old, line.text)
		}
	}
	return old
}

func (h hunk) changes() bool {
	return slices.ContainsFunc(h.lines, func(line hunkLine) bool { return line.sign != ' ' })
}

// parsePatch parses a patch as models write it. It ignores text around the patch,
// such as a code fence or a here-document.
func parsePatch(text string) ([]section, error) {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	lines, err := unwrap(lines)
	if err != nil {
		return nil, err
	}
	var p patchParser
	for _, line := range lines {
		if err := p.line(line); err != nil {
			return nil, err
		}
	}
	if len(p.sections) == 0 {
		return nil, fmt.Errorf("the patch names no file; it needs a line that starts with %q, %q or %q", addMark, updateMark, deleteMark)
	}
	for i := range p.sections {
		s := &p.sections[i]
		s.hunks = slices.DeleteFunc(s.hunks, func(h hunk) bool { return !h.changes() })
		if s.operation == updateFile && s.moveTo == "" && len(s.hunks) == 0 {
			return nil, fmt.Errorf("the patch has no changes for %s: lines to remove start with -, lines to add with +", s.path)
		}
	}
	return p.sections, nil
}

// unwrap returns the lines between the patch's begin and end markers.
func unwrap(lines []string) ([]string, error) {
	begin := -1
	for i, line := range lines {
		if strings.TrimSpace(line) == beginMark {
			begin = i
			break
		}
	}
	if begin < 0 {
		return nil, fmt.Errorf("the patch has no line %q", beginMark)
	}
	for end := len(lines) - 1; end > begin; end-- {
		if strings.TrimSpace(lines[end]) == endMark {
			return lines[begin+1 : end], nil
		}
	}
	// A truncated patch must not be applied.
	return nil, fmt.Errorf("the patch does not end with the line %q; was it truncated?", endMark)
}

// patchParser collects sections line by line.
type patchParser struct {
	sections []section
	closed   bool // the last hunk is complete; the next line starts another
}

func (p *patchParser) line(line string) error {
	for _, header := range headers {
		if path, ok := strings.CutPrefix(line, header.mark); ok {
			return p.begin(header.operation, strings.TrimSpace(path))
		}
	}
	blank := strings.TrimSpace(line) == ""
	if len(p.sections) == 0 {
		if blank {
			return nil
		}
		return fmt.Errorf("%q precedes the first file of the patch", cutLine(line))
	}
	s := &p.sections[len(p.sections)-1]
	switch {
	case s.operation == updateFile:
		return p.updateLine(s, line)
	case blank && s.operation == deleteFile, strings.TrimSpace(line) == eofMark:
		return nil
	case s.operation == deleteFile:
		return fmt.Errorf("%q cannot follow %s %s", cutLine(line), deleteMark, s.path)
	case strings.HasPrefix(line, "+"), blank:
		s.added = append(s.added, line)
		return nil
	}
	return fmt.Errorf("%q does not start with +, as each line of the new file %s must", cutLine(line), s.path)
}

func (p *patchParser) begin(operation operation, path string) error {
	if path == "" {
		return errors.New("a file in the patch has no path")
	}
	p.sections = append(p.sections, section{operation: operation, path: path})
	p.closed = true
	return nil
}

// lineNumbersOnly matches the line numbers of a unified diff after @@.
var lineNumbersOnly = regexp.MustCompile(`^\s*-\d+(,\d+)? \+\d+(,\d+)? @@.*$`)

func (p *patchParser) updateLine(s *section, line string) error {
	trimmed := strings.TrimRight(line, " \t")
	if path, ok := strings.CutPrefix(line, moveMark); ok {
		s.moveTo = strings.TrimSpace(path)
		if s.moveTo == "" || len(s.hunks) > 0 {
			return fmt.Errorf("%q must name a path and directly follow %s %s", cutLine(line), updateMark, s.path)
		}
		return nil
	}
	if trimmed == eofMark {
		if n := len(s.hunks); n > 0 {
			s.hunks[n-1].atEnd = true
		}
		p.closed = true
		return nil
	}
	if anchor, ok := strings.CutPrefix(line, anchorMark); ok {
		h := p.hunk(s, true)
		anchor = strings.TrimSuffix(lineNumbersOnly.ReplaceAllString(anchor, ""), anchorMark)
		if strings.TrimSpace(anchor) != "" {
			h.anchors = append(h.anchors, strings.TrimPrefix(anchor, " "))
		}
		return nil
	}
	if strings.HasPrefix(line, "***") {
		return fmt.Errorf("%q is not a valid patch line; context lines start with a space", cutLine(line))
	}
	if strings.HasPrefix(line, `\ No newline`) || (trimmed == "" && p.closed) {
		return nil
	}
	read := hunkLine{' ', line} // models often omit the sign of context lines
	if line != "" && strings.IndexByte(" +-", line[0]) >= 0 {
		read = hunkLine{line[0], line[1:]}
	}
	h := p.hunk(s, false)
	h.lines = append(h.lines, read)
	return nil
}

// hunk returns the hunk that a line belongs to. An anchor starts a new hunk unless
// it follows another anchor.
func (p *patchParser) hunk(s *section, anchor bool) *hunk {
	n := len(s.hunks)
	if p.closed || (anchor && len(s.hunks[n-1].lines) > 0) {
		s.hunks = append(s.hunks, hunk{number: n + 1})
	}
	p.closed = false
	return &s.hunks[len(s.hunks)-1]
}

// content returns the content of a new file. It drops trailing blank lines without a
// sign, which only separate it from the next section.
func (s section) content() []byte {
	lines := s.added
	for len(lines) > 0 && !strings.HasPrefix(lines[len(lines)-1], "+") {
		lines = lines[:len(lines)-1]
	}
	var content strings.Builder
	for _, line := range lines {
		content.WriteString(strings.TrimPrefix(line, "+"))
		content.WriteByte('\n')
	}
	return []byte(content.String())
}

const shownLine = 160 // bytes of a line, in an error

func cutLine(line string) string {
	if len(line) > shownLine {
		return text.WholeRunes(line[:shownLine]) + "…"
	}
	return line
}

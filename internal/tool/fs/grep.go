package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const grepDescription = `Search the files under path, or those matching glob (*.go), for an RE2 regular expression. Returns
path:line: text, and path-line- text for context lines, at most 10 around each match. Skips binary files and .git.`

const (
	grepLine    = 64 << 10 // bytes of a line to search
	grepShown   = 300      // bytes of a line to show
	grepContext = 10       // maximum context lines
)

type grepArgs struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path,omitempty"`
	Glob       string `json:"glob,omitempty"`
	Context    int    `json:"context,omitempty"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
}

func (t tree) grep(ctx context.Context, _ tool.Call, args grepArgs) (tool.Result, error) {
	expression := args.Pattern
	if args.IgnoreCase {
		expression = "(?i)" + expression
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return tool.Result{}, fmt.Errorf("pattern: %w", err)
	}
	match := func(string) bool { return true }
	if args.Glob != "" {
		if match, err = globber(args.Glob); err != nil {
			return tool.Result{}, err
		}
	}
	p, err := t.at(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.close()

	s := search{re: re, context: min(max(args.Context, 0), grepContext)}
	notes, err := p.walk(ctx, func(name, rel string) error {
		if !match(rel) {
			return nil
		}
		f, _, err := safefile.Open(p.root, name, os.O_RDONLY)
		if err != nil {
			s.skipped++
			return nil
		}
		defer f.Close()
		return s.file(ctx, f, p.show(name))
	})
	if err != nil {
		return tool.Result{}, err
	}
	text := strings.TrimSuffix(s.out.String(), "\n")
	if s.out.Len() == 0 {
		text = fmt.Sprintf("no line matches %q", args.Pattern)
	}
	if s.skipped > 0 {
		notes += fmt.Sprintf("\n[%d files could not be read]", s.skipped)
	}
	return tool.Result{Text: text + notes}, nil
}

// search collects matches from files until the result is full.
type search struct {
	re      *regexp.Regexp
	context int

	out     bytes.Buffer
	full    bool
	skipped int
}

// file searches one file. It returns errEnough when the result is full.
func (s *search) file(ctx context.Context, f *os.File, shown string) error {
	lines := newLineReader(f, grepLine)
	if _, binary := lines.binary(); binary {
		return nil
	}
	var before []string // context lines of a following match
	after := 0          // context lines left to show after a match
	last := 0           // last line shown
	for number := 1; ; number++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		line, _, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			s.skipped++
			return nil //nolint:nilerr // counted and reported in the result
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case s.re.Match(line):
			if s.context > 0 && s.out.Len() > 0 && (last == 0 || number-len(before) > last+1) {
				err = s.emit("--\n")
			}
			for i, text := range before {
				err = errors.Join(err, s.emit("%s-%d- %s\n", shown, number-len(before)+i, text))
			}
			err = errors.Join(err, s.emit("%s:%d: %s\n", shown, number, short(line)))
			before, after, last = nil, s.context, number
		case after > 0:
			err = s.emit("%s-%d- %s\n", shown, number, short(line))
			after, last = after-1, number
		case s.context > 0:
			if len(before) == s.context {
				before = before[1:]
			}
			before = append(before, short(line))
		}
		if err != nil {
			return err
		}
	}
}

// emit adds a line to the result, or returns errEnough if it does not fit.
func (s *search) emit(format string, args ...any) error {
	line := fmt.Sprintf(format, args...)
	if s.full = s.full || s.out.Len()+len(line) > resultLimit; s.full {
		return errEnough
	}
	s.out.WriteString(line)
	return nil
}

// short truncates a line for display.
func short(line []byte) string {
	if len(line) > grepShown {
		return strings.ToValidUTF8(string(text.WholeRunes(line[:grepShown])), "\uFFFD") + "…"
	}
	return strings.ToValidUTF8(string(line), "\uFFFD")
}

package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/internal/safefile"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const readDescription = `Read a text file from line offset: limit lines (default 2000) or 15 kB at most. Says where to continue.`

const readLines = 2000 // default limit

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty"`
	Limit  int    `json:"limit,omitempty"`
}

func (t tree) readFile(ctx context.Context, _ tool.Call, args readArgs) (tool.Result, error) {
	p, err := t.at(args.Path)
	if err != nil {
		return tool.Result{}, err
	}
	defer p.close()
	f, info, err := safefile.Open(p.root, p.name, os.O_RDONLY)
	if err != nil {
		return tool.Result{}, explain(p.show(p.name), err)
	}
	defer f.Close()

	lines := newLineReader(f, resultLimit)
	if head, binary := lines.binary(); binary {
		return tool.Result{Text: fmt.Sprintf("%s is a binary file (%s, %d bytes) and is not shown",
			p.show(p.name), http.DetectContentType(head), info.Size())}, nil
	}
	w := window{first: max(args.Offset, 1), count: readLines}
	if args.Limit > 0 {
		w.count = args.Limit
	}
	if err := w.read(ctx, lines); err != nil {
		return tool.Result{}, explain(p.show(p.name), err)
	}
	return tool.Result{Text: w.String()}, nil
}

// window is the part of a file that is returned: up to count lines from first, as
// far as they fit.
type window struct {
	first, count int

	text    bytes.Buffer
	seen    int  // lines read, including skipped ones
	more    bool // lines follow the window
	cutLine bool // the window's only line was truncated
}

func (w *window) read(ctx context.Context, lines *lineReader) error {
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		if w.cutLine || w.seen+1 >= w.first+w.count {
			w.more = lines.more()
			return nil
		}
		line, cut, err := lines.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if w.seen+1 >= w.first {
			if w.text.Len() > 0 && w.text.Len()+len(line) > resultLimit {
				w.more = true
				return nil
			}
			w.text.Write(line)
			w.cutLine = cut
		}
		w.seen++
	}
}

// String returns the window's text and a note about it.
func (w *window) String() string {
	var notes []string
	shown := w.text.Bytes()
	switch {
	case w.seen == 0:
		notes = append(notes, "the file is empty")
	case w.seen < w.first:
		notes = append(notes, fmt.Sprintf("the file has %d lines, fewer than offset %d", w.seen, w.first))
	case w.more:
		notes = append(notes, fmt.Sprintf("lines %d to %d; continue with offset %d", w.first, w.seen, w.seen+1))
	case w.first > 1:
		notes = append(notes, fmt.Sprintf("lines %d to %d, end of file", w.first, w.seen))
	}
	if w.cutLine {
		notes = append(notes, fmt.Sprintf("line %d is longer than %d bytes and was truncated", w.seen, resultLimit))
		shown = text.WholeRunes(shown)
	}
	if !utf8.Valid(shown) {
		notes = append(notes, "the file is not valid UTF-8; invalid bytes are shown as \uFFFD")
	}
	out := strings.ToValidUTF8(string(shown), "\uFFFD")
	if len(notes) == 0 {
		return out
	}
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out + "[" + strings.Join(notes, "; ") + "]"
}

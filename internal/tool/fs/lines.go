package fs

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

const sniffed = 8000 // bytes that decide whether a file is text

// lineReader reads a file of any size line by line in constant memory.
type lineReader struct {
	r     *bufio.Reader
	limit int // bytes of a line to keep
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// binary reports whether the file is not text, judged by head, its start.
func (l *lineReader) binary() (head []byte, binary bool) {
	head, _ = l.r.Peek(sniffed)
	return head, bytes.IndexByte(head, 0) >= 0
}

// more reports whether next would return a line.
func (l *lineReader) more() bool {
	_, err := l.r.Peek(1)
	return err == nil
}

// next returns the next line with its line break, cut to the limit, or io.EOF.
func (l *lineReader) next() (line []byte, cut bool, err error) {
	for {
		piece, err := l.r.ReadSlice('\n')
		room := l.limit - len(line)
		if len(piece) > room {
			piece, cut = piece[:room], true
		}
		line = append(line, piece...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, cut, nil
		default:
			return line, cut, err
		}
	}
}

package supervisor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
)

// Output returns the output so far. If it is longer than limit bytes, it is the head
// and the tail with a note in between. total is the number of bytes written, or kept
// while the command runs.
func (p *Process) Output(limit int64) (output []byte, total int64, err error) {
	f, err := os.Open(p.entry.path(outputFile))
	if os.IsNotExist(err) {
		return nil, 0, nil // it never started
	}
	if err != nil {
		return nil, 0, fmt.Errorf("supervisor: read output: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, fmt.Errorf("supervisor: read output: %w", err)
	}
	kept := info.Size()
	total = kept
	if exit, ok := p.entry.exit(); ok {
		total = exit.OutputBytes
	}
	if output, err = headAndTail(f, kept, limit); err != nil {
		return nil, 0, fmt.Errorf("supervisor: read output: %w", err)
	}
	return output, total, nil
}

// OutputFrom returns the kept output so far from a byte offset on.
func (p *Process) OutputFrom(offset int64) ([]byte, error) {
	f, err := os.Open(p.entry.path(outputFile))
	if os.IsNotExist(err) {
		return nil, nil // it never started
	}
	if err != nil {
		return nil, fmt.Errorf("supervisor: read output: %w", err)
	}
	defer f.Close()
	output, err := io.ReadAll(io.NewSectionReader(f, offset, math.MaxInt64-offset))
	if err != nil {
		return nil, fmt.Errorf("supervisor: read output: %w", err)
	}
	return output, nil
}

// Seen returns the offset recorded by [Process.See].
func (p *Process) Seen() (offset int64) {
	data, err := os.ReadFile(p.entry.path(seenFile))
	if err != nil || json.Unmarshal(data, &offset) != nil {
		return 0
	}
	return offset
}

// See records that the output was read up to an offset. It never decreases.
func (p *Process) See(offset int64) error {
	if offset <= p.Seen() {
		return nil
	}
	if err := writeJSON(p.entry.path(seenFile), offset); err != nil {
		return fmt.Errorf("supervisor: record what was read: %w", err)
	}
	return nil
}

func headAndTail(f io.ReaderAt, size, limit int64) ([]byte, error) {
	if size <= limit {
		return io.ReadAll(io.NewSectionReader(f, 0, size))
	}
	head, err := io.ReadAll(io.NewSectionReader(f, 0, limit/2))
	if err != nil {
		return nil, err
	}
	rest := limit - limit/2
	tail, err := io.ReadAll(io.NewSectionReader(f, size-rest, rest))
	if err != nil {
		return nil, err
	}
	note := fmt.Appendf(nil, "\n\n[%d bytes left out]\n\n", size-limit)
	return bytes.Join([][]byte{head, note, tail}, nil), nil
}

// LastLine returns the last non-blank line of the output so far, or its last 200
// bytes.
func (p *Process) LastLine() string { return lastLine(p.entry.tail(outputFile, 4096)) }

func lastLine(text []byte) string {
	const longest = 200
	text = bytes.TrimSpace(text)
	if i := bytes.LastIndexAny(text, "\r\n"); i >= 0 {
		text = text[i+1:]
	}
	return string(bytes.ToValidUTF8(text[max(0, len(text)-longest):], nil))
}

// tail returns up to limit bytes from the end of a file; nil if it cannot be read.
func (e entry) tail(name string, limit int64) []byte {
	f, err := os.Open(e.path(name))
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-limit)
	text, err := io.ReadAll(io.NewSectionReader(f, from, limit))
	if err != nil {
		return nil
	}
	return text
}

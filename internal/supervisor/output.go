package supervisor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
)

// Output returns the kept output so far from a byte offset on.
func (p *Process) Output(from int64) ([]byte, error) {
	f, err := os.Open(p.entry.path(outputFile))
	if os.IsNotExist(err) {
		return nil, nil // it never started
	}
	if err != nil {
		return nil, fmt.Errorf("supervisor: read output: %w", err)
	}
	defer f.Close()
	output, err := io.ReadAll(io.NewSectionReader(f, from, math.MaxInt64-from))
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

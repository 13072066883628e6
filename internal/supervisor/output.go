package supervisor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
)

// Output returns what the command has written so far, all of it if that is at
// most limit bytes, else its head and its tail with a note between them. Total is
// how much it wrote, kept or not; while the command runs, how much was kept.
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

// OutputFrom returns what the command has written so far from a byte on and was
// kept. Where the next such byte will be is offset plus the length of that.
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

// Seen is how far the output was read: what [Process.See] was told.
func (p *Process) Seen() (offset int64) {
	data, err := os.ReadFile(p.entry.path(seenFile))
	if err != nil || json.Unmarshal(data, &offset) != nil {
		return 0
	}
	return offset
}

// See notes that the output was read up to a byte, for whoever reads on. It never
// goes back.
func (p *Process) See(offset int64) error {
	if offset <= p.Seen() {
		return nil
	}
	if err := writeJSON(p.entry.path(seenFile), offset); err != nil {
		return fmt.Errorf("supervisor: note what was read: %w", err)
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

// LastLine returns the last line that the command has written so far and that is
// not blank, or at most the last 200 bytes of it.
func (p *Process) LastLine() string { return lastLine(p.entry.tail(outputFile, 4096)) }

func lastLine(text []byte) string {
	const longest = 200
	text = bytes.TrimSpace(text)
	if i := bytes.LastIndexAny(text, "\r\n"); i >= 0 {
		text = text[i+1:]
	}
	return string(bytes.ToValidUTF8(text[max(0, len(text)-longest):], nil))
}

// tail returns at most the last limit bytes of a file; nothing if it is not there.
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

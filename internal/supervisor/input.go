package supervisor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

const maxInput = 10_000_000 // bytes of the input file

// ErrNoInput reports that a command takes no input: it was started without
// [Spec.Input], its input was closed, or it reached the limit.
var ErrNoInput = errors.New("the command takes no input")

// ErrEnded reports that a command has ended and takes no input.
var ErrEnded = errors.New("the command has ended")

// input is a line of the input file, from one Write. A line without a newline is
// invalid: its writer died.
type input struct {
	ID   string `json:"id"`
	Data []byte `json:"data,omitempty"`
	Last bool   `json:"last,omitempty"` // closes the command's input
}

// Write gives data to the command as input, once per id, in the order of first calls.
// It returns when the data is stored durably; the command may end without reading it.
// last closes the input. After [ErrNoInput] or [ErrEnded] nothing is written.
func (p *Process) Write(id string, data []byte, last bool) error {
	if err := p.write(input{ID: id, Data: data, Last: last}); err != nil {
		return fmt.Errorf("supervisor: write input: %w", err)
	}
	return nil
}

func (p *Process) write(in input) error {
	f, err := os.OpenFile(p.entry.path(inputFile), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return ErrNoInput
	}
	if err != nil {
		return err
	}
	defer f.Close()
	// Unlike the supervisor's lock, this one also excludes goroutines of one process.
	if err := flock(f); err != nil {
		return err
	}
	data, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	given, size := inputs(data)
	for _, earlier := range given {
		if earlier.ID == in.ID {
			return nil
		}
	}
	switch {
	case p.entry.phase() != running:
		return ErrEnded
	case len(given) > 0 && given[len(given)-1].Last:
		return fmt.Errorf("%w: its input was closed", ErrNoInput)
	}
	line, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if size+len(line) > maxInput {
		return fmt.Errorf("%w: it has received %d of at most %d bytes", ErrNoInput, size, maxInput)
	}
	// Remove an incomplete line of a writer that died.
	if err := f.Truncate(int64(size)); err != nil {
		return err
	}
	if _, err := f.WriteAt(append(line, '\n'), int64(size)); err != nil {
		return err
	}
	return f.Sync()
}

func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// inputs returns the complete lines of data and their size in bytes.
func inputs(data []byte) (all []input, size int) {
	size = bytes.LastIndexByte(data, '\n') + 1
	for line := range bytes.Lines(data[:size]) {
		var in input
		if json.Unmarshal(line, &in) == nil {
			all = append(all, in)
		}
	}
	return all, size
}

// feed copies the input file to the command until its last line or until the command
// ends. It reads on whenever more signals, and closes to at the end.
func feed(from io.ReaderAt, to io.WriteCloser, more, ended <-chan struct{}) {
	defer to.Close()
	for done := int64(0); ; {
		data, err := io.ReadAll(io.NewSectionReader(from, done, maxInput))
		if err != nil {
			return
		}
		given, size := inputs(data)
		for _, in := range given {
			if _, err := to.Write(in.Data); err != nil || in.Last {
				return
			}
		}
		done += int64(size)
		select {
		case <-ended:
			return
		case <-more:
		}
	}
}

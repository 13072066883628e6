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

// maxInput is how much, in bytes of the file, a command may be given in all.
const maxInput = 10_000_000

// ErrNoInput says that a command takes no input: it was started without
// [Spec.Input], its input was closed, or it has had all that it may.
var ErrNoInput = errors.New("the command takes no input")

// ErrEnded says that a command runs no more and can be given no input.
var ErrEnded = errors.New("the command has ended")

// input is what one Write gives to a command, a line of the input file. Only
// what ends with a newline counts: a writer may have died in the middle.
type input struct {
	ID   string `json:"id"`
	Data []byte `json:"data,omitempty"`
	Last bool   `json:"last,omitempty"` // then the command finds the end of its input
}

// Write gives data to the command as input, once for each id, however often and
// by whomever it is called, and in the order of the first calls. It returns when
// that is certain, not when the command has read it: it may end without. After
// the last one the command finds the end of its input. The error may be
// [ErrNoInput] or [ErrEnded]; then nothing is written.
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
	// Unlike the supervisor's lock this one keeps apart what one process does twice.
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
		return fmt.Errorf("%w: it was closed", ErrNoInput)
	}
	line, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if size+len(line) > maxInput {
		return fmt.Errorf("%w: it has had %d bytes of at most %d", ErrNoInput, size, maxInput)
	}
	// What a writer left that died in the middle goes first.
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

// inputs are the whole lines of data, and how many bytes they are.
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

// feed passes what comes into the input file on to the command until the last of
// it, or until nobody reads it any more. It looks whenever there may be more, and
// closes to.
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

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/holdfast-ai/holdfast/channels"
)

// ErrInterrupted is returned when the user stopped the turn.
var ErrInterrupted = errors.New("interrupted")

// TurnError says that a turn ended without an answer from the model.
type TurnError struct {
	Reply string // what the user was told instead, in one line
}

// Error implements error.
func (e *TurnError) Error() string { return e.Reply }

// AskOptions say where [Ask] reads and writes.
type AskOptions struct {
	In        io.Reader       // a terminal at which a person answers what is asked meanwhile; nil: there is none
	Out       io.Writer       // the reply, and nothing else
	Err       io.Writer       // what is asked meanwhile
	Interrupt <-chan struct{} // closed to stop the turn
	Progress  *Progress       // nil: none
}

// Ask sends a message and prints the reply. When it is interrupted it stops the
// turn, waits a moment for its end and returns [ErrInterrupted]. A turn that failed
// is a [TurnError].
func Ask(ctx context.Context, c *Conversation, text string, o AskOptions) error {
	d := &dialogue{c: c, progress: o.Progress, w: o.Err, out: o.Out}
	if o.In != nil {
		// Not before there is something to answer: what is typed is not ours.
		d.typed = sync.OnceValue(func() <-chan string {
			lines, _ := readLines(o.In)
			return lines
		})
	}
	return ask(ctx, d, text, o.Interrupt)
}

// ask is [Ask], in a dialogue.
func ask(ctx context.Context, d *dialogue, text string, interrupt <-chan struct{}) error {
	state, err := d.ask(ctx, text, interrupt)
	d.progress.Stop()
	if err != nil {
		return err
	}
	if !d.first(state.Turn) {
		return nil
	}
	if state.Status != channels.Done {
		return &TurnError{Reply: oneLine(state.Reply)}
	}
	if _, err := fmt.Fprintln(d.out, forOutput(d.out, state.Reply)); err != nil {
		return fmt.Errorf("print the reply: %w", err)
	}
	return nil
}

func (d *dialogue) ask(ctx context.Context, text string, interrupt <-chan struct{}) (channels.MessageState, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		state channels.MessageState
		err   error
	}
	d.progress.Show(thinking)
	results := make(chan result, 1)
	go func() {
		id, err := d.c.Send(ctx, text)
		if err != nil {
			results <- result{err: err}
			return
		}
		state, err := d.await(ctx, id)
		results <- result{state, err}
	}()
	select {
	case r := <-results:
		return r.state, r.err
	case <-interrupt:
	}
	d.progress.Show("stopping")
	stopping, done := context.WithTimeout(ctx, stopPatience)
	defer done()
	if err := d.c.Stop(stopping); err != nil {
		return channels.MessageState{}, ErrInterrupted
	}
	select {
	case <-results:
	case <-stopping.Done():
	}
	return channels.MessageState{}, ErrInterrupted
}

// forOutput is a text as w gets it: whole, unless it is a terminal, which would obey
// what models and tools put into it.
func forOutput(w io.Writer, text string) string {
	if !isTerminal(w) {
		return text
	}
	return clean(text)
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// elapsed is a duration as a person wants it: 0:07, 12:30.
func elapsed(d time.Duration) string {
	seconds := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

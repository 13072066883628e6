package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// lineLimit bounds a message that is a line.
const lineLimit = 16 << 20

// LinesOptions say where [Lines] reads and writes.
type LinesOptions struct {
	In        io.Reader
	Out       io.Writer        // replies
	Err       io.Writer        // what went wrong
	Prompt    string           // before each line; empty: In is no terminal
	Interrupt <-chan struct{}  // closed to stop the turn and leave
	Progress  func() *Progress // a new one for each wait; nil: none
}

func (o LinesOptions) progress() *Progress {
	if o.Progress == nil {
		return nil
	}
	return o.Progress()
}

// Lines takes each line of In for a message and prints the replies, one after the
// other, those first that were not seen before. A turn that fails does not end
// it. [ErrInterrupted] if it was interrupted.
func Lines(ctx context.Context, c *Conversation, o LinesOptions) error {
	if err := unseenReplies(ctx, c, o); err != nil {
		return err
	}
	lines, failed := readLines(o.In)
	for {
		fmt.Fprint(o.Out, o.Prompt)
		var line string
		var open bool
		select {
		case line, open = <-lines:
		case <-o.Interrupt:
			return ErrInterrupted
		case <-ctx.Done():
			return ctx.Err()
		}
		if !open {
			return failed()
		}
		text := strings.TrimSpace(line)
		if leaves(text) {
			return nil
		}
		if text == "" {
			continue
		}
		err := Ask(ctx, c, text, o.Interrupt, o.progress(), o.Out)
		if turn, ok := errors.AsType[*TurnError](err); ok {
			fmt.Fprintln(o.Err, turn)
			continue
		}
		if err != nil {
			return err
		}
	}
}

// leaves reports whether the user wants to leave.
func leaves(text string) bool { return text == "/quit" || text == "/exit" }

// readLines reads beside us, since a read cannot be interrupted. Once the lines
// are closed, failed tells why.
func readLines(in io.Reader) (_ <-chan string, failed func() error) {
	lines := make(chan string)
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, lineLimit)
	go func() {
		defer close(lines)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	return lines, func() error {
		if err := scanner.Err(); err != nil {
			return fmt.Errorf("read a message: %w", err)
		}
		return nil
	}
}

func unseenReplies(ctx context.Context, c *Conversation, o LinesOptions) error {
	unseen, err := c.Unseen()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		select {
		case <-o.Interrupt:
			cancel(ErrInterrupted)
		case <-ended:
		}
	}()
	shown := map[string]bool{}
	for _, note := range unseen {
		p := o.progress()
		p.Show(thinking)
		state, err := c.Await(ctx, note.ID, p.On)
		p.Stop()
		switch {
		case isGone(err):
			fmt.Fprintf(o.Err, "was never sent: %s\n", oneLine(note.Text))
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case !shown[state.Turn]:
			fmt.Fprintln(o.Out, state.Reply)
		}
		shown[state.Turn] = true
	}
	return nil
}

// isGone reports whether the agent does not know a message.
func isGone(err error) bool {
	failed := remote.As(err)
	return failed != nil && failed.Status == 404 || errors.Is(err, channels.ErrNotFound)
}

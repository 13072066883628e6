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
	Err       io.Writer        // what went wrong, and what is asked
	Typing    bool             // In is a terminal, at which a person answers what is asked
	Prompt    string           // before each line
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
// other, those first that were not seen before, and those that come unasked when they
// come. A turn that fails does not end it. [ErrInterrupted] if it was interrupted.
func Lines(ctx context.Context, c *Conversation, o LinesOptions) error {
	lines, failed := readLines(o.In)
	d := &dialogue{c: c, w: o.Err, out: o.Out}
	if o.Typing {
		d.typed = func() <-chan string { return lines }
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := d.watch(ctx); err != nil {
		return err
	}
	if err := unseenReplies(ctx, d, o); err != nil {
		return err
	}
	for {
		fmt.Fprint(o.Out, o.Prompt)
		var line string
		var open bool
		select {
		case line, open = <-lines:
		case r := <-d.unasked:
			if o.Prompt != "" {
				fmt.Fprint(o.Out, eraseLine)
			}
			d.show(r)
			continue
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
		d.progress = o.progress()
		err := ask(ctx, d, text, o.Interrupt)
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

// watch shows what came unasked since a terminal was open, and looks for more until
// ctx ends.
func (d *dialogue) watch(ctx context.Context) error {
	u, err := d.c.unasked()
	if err != nil {
		return err
	}
	for _, r := range u.look(ctx) {
		d.show(r)
	}
	news := make(chan channels.UnaskedReply)
	d.unasked = news
	go u.watch(ctx, func(r channels.UnaskedReply) {
		select {
		case news <- r:
		case <-ctx.Done():
		}
	})
	return nil
}

func unseenReplies(ctx context.Context, d *dialogue, o LinesOptions) error {
	unseen, err := d.c.Unseen()
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
	for _, note := range unseen {
		d.progress = o.progress()
		d.progress.Show(thinking)
		state, err := d.await(ctx, note.ID)
		d.progress.Stop()
		switch {
		case isGone(err):
			fmt.Fprintf(o.Err, "was never sent: %s\n", oneLine(note.Text))
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return err
		case d.first(state.Turn):
			fmt.Fprintln(o.Out, state.Reply)
		}
	}
	return nil
}

// isGone reports whether the agent does not know a message.
func isGone(err error) bool {
	failed := remote.As(err)
	return failed != nil && failed.Status == 404 || errors.Is(err, channels.ErrNotFound)
}

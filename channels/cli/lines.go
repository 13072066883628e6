package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/text"
)

// LinesOptions say where [Ask] and [Lines] read and write.
type LinesOptions struct {
	In        io.Reader
	Out       io.Writer        // replies
	Err       io.Writer        // errors and questions
	Typing    bool             // In is the terminal of a person who can answer questions
	Prompt    string           // of [Lines], before each line
	Interrupt <-chan struct{}  // closed to stop the turn and leave
	Progress  func() *Progress // called for each wait; nil: none
}

func (o LinesOptions) progress() *Progress {
	if o.Progress == nil {
		return nil
	}
	return o.Progress()
}

// Lines sends each line of In as a message and prints the replies one by one. Replies
// that no terminal has shown yet come first; background replies are printed as they
// arrive. A failed turn does not end it. It returns [ErrInterrupted] when interrupted.
func Lines(ctx context.Context, c *Conversation, o LinesOptions) error {
	lines, failed := readLines(o.In)
	d := &dialogue{c: c, w: o.Err, out: o.Out}
	if o.Typing {
		d.typed = func() <-chan string { return lines }
	}
	d.listen()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := d.watch(ctx); err != nil {
		return err
	}
	if err := showUnseen(ctx, d, o); err != nil {
		return err
	}
	for {
		fmt.Fprint(o.Out, o.Prompt)
		var line string
		var open bool
		select {
		case line, open = <-lines:
		case r := <-d.background:
			if o.Prompt != "" {
				fmt.Fprint(o.Out, eraseLine)
			}
			d.show(r)
			continue
		case away := <-d.away:
			if o.Prompt != "" {
				fmt.Fprint(o.Out, eraseLine)
			}
			d.onAway(away)
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
		if isQuit(text) {
			return nil
		}
		if text == "" {
			continue
		}
		d.progress = o.progress()
		err := d.ask(ctx, text, o.Interrupt)
		if turn, ok := errors.AsType[*TurnError](err); ok {
			fmt.Fprintln(o.Err, turn)
			continue
		}
		if err != nil {
			return err
		}
	}
}

// isQuit reports whether the user wants to leave.
func isQuit(text string) bool { return text == "/quit" || text == "/exit" }

// showUnseen waits for the messages that no terminal has shown yet, and prints their
// replies.
func showUnseen(ctx context.Context, d *dialogue, o LinesOptions) error {
	unseen, err := d.c.Unseen()
	if err != nil {
		return err
	}
	for _, note := range unseen {
		d.progress = o.progress()
		sent := func(context.Context) (string, error) { return note.ID, nil }
		state, err := d.await(ctx, sent, o.Interrupt)
		switch {
		case isNotFound(err):
			fmt.Fprintf(o.Err, "never sent: %s\n", text.Line(note.Text))
		case err != nil:
			return err
		case d.first(state.Turn):
			fmt.Fprintln(o.Out, cleanFor(o.Out, state.Text))
		}
	}
	return nil
}

package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
)

// Ask sends a message and prints the reply. When interrupted it stops the turn, waits
// a moment for its end and returns [ErrInterrupted]. A failed turn is a [TurnError].
func Ask(ctx context.Context, c *Conversation, text string, o LinesOptions) error {
	d := &dialogue{c: c, progress: o.progress(), w: o.Err, out: o.Out, once: true}
	d.listen()
	if o.Typing {
		// Read only once a question is open: other input is meant for the shell.
		d.typed = sync.OnceValue(func() <-chan string {
			lines, _ := readLines(o.In)
			return lines
		})
	}
	return d.ask(ctx, text, o.Interrupt)
}

// lineLimit bounds a line of input.
const lineLimit = 16 << 20

// readLines reads in a goroutine, since a read cannot be interrupted. Once the
// channel is closed, failed returns the error.
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

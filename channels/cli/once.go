package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

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

// Ask sends a message and prints the reply, and nothing else, to out. When
// interrupt is closed it stops the turn, waits a moment for its end and returns
// [ErrInterrupted]. A turn that failed is a [TurnError].
func Ask(ctx context.Context, c *Conversation, text string, interrupt <-chan struct{}, p *Progress, out io.Writer) error {
	state, err := ask(ctx, c, text, interrupt, p)
	p.Stop()
	if err != nil {
		return err
	}
	if state.Status != channels.Done {
		return &TurnError{Reply: oneLine(state.Reply)}
	}
	if _, err := fmt.Fprintln(out, state.Reply); err != nil {
		return fmt.Errorf("print the reply: %w", err)
	}
	return nil
}

func ask(ctx context.Context, c *Conversation, text string, interrupt <-chan struct{}, p *Progress) (channels.MessageState, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type result struct {
		state channels.MessageState
		err   error
	}
	p.Show(thinking)
	results := make(chan result, 1)
	go func() {
		id, err := c.Send(ctx, text)
		if err != nil {
			results <- result{err: err}
			return
		}
		state, err := c.Await(ctx, id, p.On)
		results <- result{state, err}
	}()
	select {
	case r := <-results:
		return r.state, r.err
	case <-interrupt:
	}
	p.Show("stopping")
	stopping, done := context.WithTimeout(ctx, stopPatience)
	defer done()
	if err := c.Stop(stopping); err != nil {
		return channels.MessageState{}, ErrInterrupted
	}
	select {
	case <-results:
	case <-stopping.Done():
	}
	return channels.MessageState{}, ErrInterrupted
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// elapsed is a duration as a person wants it: 0:07, 12:30.
func elapsed(d time.Duration) string {
	seconds := int(d.Seconds())
	return fmt.Sprintf("%d:%02d", seconds/60, seconds%60)
}

package cli

import (
	"context"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"
)

// TerminalOptions say where [Terminal] takes place.
type TerminalOptions struct {
	In, Out   *os.File        // terminals
	History   string          // file of what was typed; made when needed
	Interrupt <-chan struct{} // closed to stop the turn, as Ctrl-C does
}

// Terminal talks with the person at a terminal until they leave. Replies that
// were not seen before come first, and those that come unasked when they come.
func Terminal(ctx context.Context, c *Conversation, o TerminalOptions) error {
	typed, err := openHistory(o.History)
	if err != nil {
		return err
	}
	unseen, err := c.Unseen()
	if err != nil {
		return err
	}
	// Whom we wait for when the person leaves need not be waited for any longer.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	news, err := c.unasked()
	if err != nil {
		return err
	}
	m := newScreen(ctx, c, typed, unseen, news)
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler())
	m.post = program.Send
	go func() {
		select {
		case <-o.Interrupt:
			program.Send(interruptMsg{})
		case <-ctx.Done():
		}
	}()
	if _, err := program.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("run the terminal: %w", err)
	}
	return m.err
}

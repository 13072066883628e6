package cli

import (
	"context"
	"fmt"
	"os"

	tea "charm.land/bubbletea/v2"

	"github.com/holdfast-ai/holdfast/internal/text"
)

// TerminalOptions are the settings of [Terminal].
type TerminalOptions struct {
	In, Out   *os.File        // terminals
	History   string          // input history file; created when needed
	Interrupt <-chan struct{} // closed to stop the turn, as Ctrl-C does
}

// Terminal holds a conversation with the person at a terminal until they leave.
// Replies that no terminal has shown yet come first; background replies are shown as
// they arrive.
func Terminal(ctx context.Context, c *Conversation, o TerminalOptions) error {
	typed, err := openHistory(o.History)
	if err != nil {
		return err
	}
	unseen, err := c.Unseen()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b, err := c.background()
	if err != nil {
		return err
	}
	m := newScreen(ctx, c, typed, unseen, b)
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithoutSignalHandler())
	m.post = program.Send
	c.link.watch(func(away bool) {
		program.Send(update(func() tea.Cmd {
			m.away = away
			if m.leaving {
				return m.leave()
			}
			return nil
		}))
	})
	go func() {
		select {
		case <-o.Interrupt:
			program.Send(update(m.interrupt))
		case <-ctx.Done():
		}
	}()
	if _, err := program.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("run the terminal: %w", err)
	}
	if unsent := m.unsentText(); m.err == nil && unsent != "" {
		return fmt.Errorf("not sent: %s", text.Line(unsent))
	}
	return m.err
}

package cli

import (
	"context"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

// update is the message that all commands return: it runs in the program's loop, like
// [screen.Update].
type update func() tea.Cmd

// screen draws the reply in progress and the input. Everything finished is printed
// above it and kept by the terminal.
type screen struct {
	ctx        context.Context // for tea commands, which are not passed one
	c          *Conversation
	post       func(tea.Msg)
	typed      *history
	unseen     []Note
	background *background
	err        error

	input         textarea.Model
	width, height int
	opened        bool

	unprinted []string // in pieces that fit
	printing  bool     // until the current piece is printed

	unsent   []string        // messages to send next
	sending  string          // the message being sent
	away     bool            // the agent does not answer
	waiting  []string        // IDs of sent messages that have not ended
	shown    map[string]bool // turns whose reply was printed
	asked    questions
	streamed strings.Builder // the reply so far
	label    string
	started  time.Time
	frame    int
	ticking  bool // until the next frame
	stopping bool
	leaving  bool // quits once the messages are sent
	failed   bool // a model call failed since the clock was restarted
}

func newScreen(ctx context.Context, c *Conversation, typed *history, unseen []Note, b *background) *screen {
	return &screen{
		ctx: ctx, c: c, typed: typed, unseen: unseen, background: b,
		input: newInput(), width: defaultWidth, height: 24, shown: map[string]bool{},
	}
}

// newInput returns a text area that grows with its content. Enter submits.
func newInput() textarea.Model {
	input := textarea.New()
	input.ShowLineNumbers = false
	input.CharLimit = 0
	input.DynamicHeight, input.MinHeight, input.MaxHeight, input.MaxContentHeight = true, 1, 8, 9000
	input.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	input.SetPromptFunc(len("> "), func(p textarea.PromptInfo) string {
		if p.LineNumber == 0 {
			return "› "
		}
		return "  "
	})
	input.SetStyles(textarea.Styles{})
	input.SetVirtualCursor(false)
	input.SetWidth(defaultWidth)
	input.Focus()
	return input
}

// busy reports whether a message has not ended.
func (s *screen) busy() bool { return s.sending != "" || len(s.unsent) > 0 || len(s.waiting) > 0 }

// tick schedules the next frame while busy.
func (s *screen) tick() tea.Cmd {
	if s.ticking || !s.busy() {
		return nil
	}
	s.ticking = true
	return tea.Tick(frameTime, func(time.Time) tea.Msg {
		return update(func() tea.Cmd {
			s.ticking = false
			s.frame++
			return s.tick()
		})
	})
}

package cli

import (
	"context"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

type (
	// sentMsg is the result of sending a message.
	sentMsg struct {
		id, text string
		err      error
	}
	// eventMsg is an event of a message.
	eventMsg struct {
		id    string
		event event.Event
	}
	// endedMsg is the end of a message.
	endedMsg struct {
		id    string
		text  string
		state domain.Reply
		err   error
	}
	backgroundMsg struct{ reply domain.BackgroundReply }
	stopFailedMsg struct{ err error }
	interruptMsg  struct{}
	printedMsg    struct{}
	frameMsg      struct{}
)

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
	printing  bool     // waiting for a printedMsg

	unsent   []string // messages to send next
	sending  bool
	waiting  []string        // IDs of sent messages that have not ended
	shown    map[string]bool // turns whose reply was printed
	asked    questions
	streamed strings.Builder // the reply so far
	label    string
	started  time.Time
	frame    int
	ticking  bool // waiting for a frameMsg
	stopping bool
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

// Init implements [tea.Model]. The first WindowSizeMsg starts the conversation.
func (s *screen) Init() tea.Cmd { return nil }

// open prints the greeting and the messages that no terminal has shown yet.
func (s *screen) open() tea.Cmd {
	cmds := []tea.Cmd{s.print(greeting(s.c.Session(), s.width))}
	for _, note := range s.unseen {
		cmds = append(cmds, s.print(said(note.Text, s.width)), s.follow(note))
	}
	return tea.Batch(append(cmds, s.watch)...)
}

// Update implements [tea.Model].
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		s.input.SetWidth(msg.Width)
		if !s.opened {
			s.opened = true
			return s, s.open()
		}
		return s, nil
	case tea.KeyPressMsg:
		return s, s.press(msg)
	case interruptMsg:
		return s, s.interrupt()
	case sentMsg:
		return s, s.onSent(msg)
	case eventMsg:
		return s, s.onEvent(msg)
	case endedMsg:
		return s, s.onEnded(msg)
	case backgroundMsg:
		return s, s.onBackground(msg.reply)
	case decidedMsg:
		return s, s.onDecided(msg)
	case stopFailedMsg:
		s.stopping = false
		return s, s.print(trouble("not stopped: "+msg.err.Error(), s.width))
	case printedMsg:
		s.printing = false
		return s, s.flush()
	case frameMsg:
		s.ticking = false
		s.frame++
		return s, s.tick()
	}
	var cmd tea.Cmd
	s.input, cmd = s.input.Update(msg)
	return s, cmd
}

func (s *screen) press(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		return s.submit()
	case "ctrl+c":
		return s.interrupt()
	case "ctrl+d":
		if s.input.Value() == "" {
			return tea.Quit
		}
	case "ctrl+z":
		return tea.Suspend
	case "up":
		if s.input.Line() == 0 {
			s.recall(s.typed.back(s.input.Value()))
			return nil
		}
	case "down":
		if s.input.Line() == s.input.LineCount()-1 {
			s.recall(s.typed.forward())
			return nil
		}
	}
	var cmd tea.Cmd
	s.input, cmd = s.input.Update(k)
	return cmd
}

func (s *screen) recall(entry string, ok bool) {
	if ok {
		s.input.SetValue(entry)
	}
}

// busy reports whether a message has not ended.
func (s *screen) busy() bool { return s.sending || len(s.unsent) > 0 || len(s.waiting) > 0 }

// tick schedules the next frame while busy.
func (s *screen) tick() tea.Cmd {
	if s.ticking || !s.busy() {
		return nil
	}
	s.ticking = true
	return tea.Tick(frameTime, func(time.Time) tea.Msg { return frameMsg{} })
}

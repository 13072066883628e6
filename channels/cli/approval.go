package cli

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/holdfast-ai/holdfast/internal/event"
)

// decidedMsg says what came of an answer to a question.
type decidedMsg struct {
	question question
	reply    string
	err      error
}

// onQuestion heeds what an event, of any message, says of questions.
func (s *screen) onQuestion(e event.Event) tea.Cmd {
	switch e.Kind {
	case event.Approval:
		if q, fresh := s.asked.ask(e); fresh {
			return s.print(asks(q, s.width))
		}
	case event.ToolStart:
		if q, was := s.asked.began(e); was {
			return s.print(aside("no longer asked: "+q.call, s.width))
		}
	default: // asks nothing
	}
	return nil
}

// decide answers the question that is asked.
func (s *screen) decide(approve bool) tea.Cmd {
	q := s.asked.open[0]
	s.asked.settle(q)
	return func() tea.Msg {
		reply, err := s.c.Decide(s.ctx, q.id, approve)
		return decidedMsg{q, reply, err}
	}
}

func (s *screen) onDecided(msg decidedMsg) tea.Cmd {
	if msg.err == nil {
		return s.print(aside(msg.reply, s.width))
	}
	if s.busy() {
		s.asked.reopen(msg.question)
	}
	return s.print(trouble("not answered: "+msg.err.Error(), s.width))
}

// prompt asks for an answer; empty if nothing is asked.
func (s *screen) prompt() string {
	if len(s.asked.open) == 0 {
		return ""
	}
	line := runIt + oneLine(clean(s.asked.open[0].call))
	if more := len(s.asked.open) - 1; more > 0 {
		line = fmt.Sprintf("(%d more) %s", more, line)
	}
	return line
}

// asks is a question as it stays on the screen.
func asks(q question, width int) string {
	return style(1, 22, lipgloss.Wrap("? "+mayI(q), width, "")) + "\n"
}

// aside is what was said besides replies, as it stays on the screen.
func aside(text string, width int) string {
	return style(2, 22, lipgloss.Wrap(oneLine(clean(text)), width, "")) + "\n"
}

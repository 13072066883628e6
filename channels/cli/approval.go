package cli

import (
	tea "charm.land/bubbletea/v2"
	lipgloss "charm.land/lipgloss/v2"

	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// onQuestion handles an event that opens or closes a question.
func (s *screen) onQuestion(e event.Event) tea.Cmd {
	switch e.Kind {
	case event.Approval:
		if q, isNew := s.asked.add(e); isNew {
			return s.print(bold(lipgloss.Wrap("? "+q.String(), s.width, "")) + "\n")
		}
	case event.ToolStart:
		if q, was := s.asked.start(e); was {
			return s.print(aside("no longer waiting for approval: "+q.call, s.width))
		}
	default: // no question
	}
	return nil
}

// decide answers the current question.
func (s *screen) decide(approve bool) tea.Cmd {
	q := s.asked.open[0]
	s.asked.settle(q)
	return func() tea.Msg {
		reply, err := s.c.Decide(s.ctx, q.id, approve)
		return update(func() tea.Cmd { return s.onDecided(q, reply, err) })
	}
}

func (s *screen) onDecided(q question, reply string, err error) tea.Cmd {
	if err == nil {
		return s.print(aside(reply, s.width))
	}
	if s.busy() {
		s.asked.reopen(q)
	}
	return s.print(trouble("answer not sent: "+err.Error(), s.width))
}

// aside formats text that is not part of a reply.
func aside(s string, width int) string {
	return faint(lipgloss.Wrap(text.Line(clean(s)), width, "")) + "\n"
}

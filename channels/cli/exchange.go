package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// submit handles Enter. While the agent works, a message joins the turn or waits for
// its end, depending on agent.mid_turn.
func (s *screen) submit() tea.Cmd {
	text := strings.TrimSpace(s.input.Value())
	if text == "" {
		return nil
	}
	if isQuit(text) {
		return s.leave()
	}
	if approve, ok := decision(text); ok && len(s.asked.open) > 0 {
		s.input.Reset()
		return s.decide(approve)
	}
	if err := s.typed.add(text); err != nil {
		s.err = err
		return tea.Quit
	}
	s.input.Reset()
	if !s.busy() {
		s.begin()
	}
	s.unsent = append(s.unsent, text)
	return s.send()
}

// send sends the next message. It sends one at a time to keep their order.
func (s *screen) send() tea.Cmd {
	if s.sending != "" || len(s.unsent) == 0 {
		return nil
	}
	text := s.unsent[0]
	s.sending, s.unsent = text, s.unsent[1:]
	send := func() tea.Msg {
		id, err := s.c.Send(s.ctx, text)
		return update(func() tea.Cmd { return s.onSent(Note{ID: id, Text: text}, err) })
	}
	return tea.Batch(send, s.tick())
}

// begin restarts the clock and the label.
func (s *screen) begin() {
	s.label, s.started, s.stopping, s.failed = thinking, time.Now(), false, false
	s.streamed.Reset()
}

// interrupt stops the turn, clears the input, or quits if a turn is already stopping, the
// agent is away, or there is no input.
func (s *screen) interrupt() tea.Cmd {
	switch {
	case s.busy() && !s.stopping && !s.away:
		s.stopping, s.label = true, "stopping"
		return func() tea.Msg {
			ctx, cancel := context.WithTimeout(s.ctx, stopTimeout)
			defer cancel()
			if err := s.c.Stop(ctx); err != nil {
				return update(func() tea.Cmd {
					s.stopping = false
					return s.print(trouble("not stopped: "+err.Error(), s.width))
				})
			}
			return nil
		}
	case !s.busy() && s.input.Value() != "":
		s.input.Reset()
		return nil
	}
	return s.leave()
}

// leave quits, at the first request only once the messages are sent, unless the agent is
// away.
func (s *screen) leave() tea.Cmd {
	if s.sending == "" || s.away || s.leaving {
		return tea.Quit
	}
	s.leaving = true
	return nil
}

func (s *screen) onSent(m Note, err error) tea.Cmd {
	s.sending = ""
	if s.ctx.Err() != nil {
		return nil
	}
	shown := s.print(said(m.Text, s.width))
	if err != nil {
		shown = s.print(trouble("not sent: "+err.Error(), s.width))
	}
	switch {
	case s.leaving && len(s.unsent) == 0:
		return tea.Sequence(shown, tea.Quit)
	case err != nil:
		return tea.Batch(shown, s.send())
	}
	return tea.Batch(shown, s.follow(m), s.send())
}

// follow waits until a message has ended.
func (s *screen) follow(m Note) tea.Cmd {
	if len(s.waiting) == 0 {
		s.begin()
	}
	s.waiting = append(s.waiting, m.ID)
	follow := func() tea.Msg {
		state, err := s.c.Await(s.ctx, m.ID, func(e event.Event) {
			s.post(update(func() tea.Cmd { return s.onEvent(m.ID, e) }))
		})
		return update(func() tea.Cmd { return s.onEnded(m, state, err) })
	}
	return tea.Batch(follow, s.tick())
}

// onEvent handles questions of every message and everything else of the oldest one:
// messages that joined its turn get the same events.
func (s *screen) onEvent(id string, e event.Event) tea.Cmd {
	if !slices.Contains(s.waiting, id) {
		return nil
	}
	cmd := s.onQuestion(e)
	if s.waiting[0] != id {
		return cmd
	}
	switch e.Kind {
	case event.Text:
		s.streamed.WriteString(e.Text)
	case event.Reset, event.ToolStart:
		s.streamed.Reset()
	case event.Retry:
		if !s.failed { // the attempts that follow only show in the status line
			s.failed = true
			cmd = tea.Batch(cmd, s.print(trouble(e.Text, s.width)))
		}
	case event.Disconnected, event.ToolProgress, event.ToolDone, event.Approval, event.TurnJoined, event.Done:
	}
	if label := eventLabel(e); label != "" && !s.stopping {
		s.label = text.Line(clean(label))
	}
	return cmd
}

// watch shows background replies as they arrive.
func (s *screen) watch() tea.Msg {
	s.background.watch(s.ctx, func(r domain.BackgroundReply) {
		s.post(update(func() tea.Cmd { return s.onBackground(r) }))
	})
	return nil
}

func (s *screen) onBackground(r domain.BackgroundReply) tea.Cmd {
	s.c.saw(r)
	if s.shown[r.Turn] {
		return nil
	}
	s.shown[r.Turn] = true
	head := faint(lipgloss.Wrap(headline(r), s.width, ""))
	return s.print(head + "\n" + outcome(r.Status, r.Text, s.width))
}

func (s *screen) onEnded(m Note, state domain.Reply, err error) tea.Cmd {
	s.waiting = slices.DeleteFunc(s.waiting, func(id string) bool { return id == m.ID })
	s.begin()
	if len(s.waiting) == 0 {
		s.asked.clear()
	}
	switch {
	case isNotFound(err):
		return s.print(trouble("never sent: "+text.Line(m.Text), s.width))
	case err != nil && s.ctx.Err() != nil:
		return nil
	case err != nil:
		return s.print(trouble(err.Error(), s.width))
	case state.Turn != "" && s.shown[state.Turn]:
		return nil
	}
	s.shown[state.Turn] = true
	return s.print(outcome(state.Status, state.Text, s.width))
}

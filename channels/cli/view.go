package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	lipgloss "charm.land/lipgloss/v2"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// previewHeight is the maximum number of lines shown of a reply in progress.
const previewHeight = 12

// View implements [tea.Model].
func (s *screen) View() tea.View {
	var above []string
	if s.busy() {
		if text := strings.TrimSpace(s.streamed.String()); text != "" {
			above = append(above, tail(wrap(clean(text), s.width-1), min(previewHeight, s.height/2))...)
			above = append(above, "")
		}
		above = append(above, s.status())
	} else if s.away {
		above = append(above, faint(awayUnsent))
	}
	lines := append(above, s.input.View())
	view := tea.NewView(strings.Join(lines, "\n"))
	if view.Cursor = s.input.Cursor(); view.Cursor != nil {
		view.Cursor.Y += len(above)
	}
	return view
}

// status is the current question, or else what the agent is doing.
func (s *screen) status() string {
	emphasis, label := faint, s.label+" · Ctrl-C to stop"
	switch {
	case s.away && s.unsentText() != "":
		label = awayUnsent + ": " + text.Line(clean(s.unsentText()))
	case s.away:
		label = awayWaiting
	case s.leaving:
		label = "leaving once it is sent"
	}
	if prompt := s.prompt(); prompt != "" {
		emphasis, label = bold, prompt
	}
	return emphasis(statusLine(s.frame, label, time.Since(s.started), s.width))
}

// unsentText is what was not sent yet.
func (s *screen) unsentText() string {
	return strings.TrimSpace(strings.Join(append([]string{s.sending}, s.unsent...), "\n"))
}

// prompt asks for the answer to the current question; empty without one.
func (s *screen) prompt() string {
	if len(s.asked.open) == 0 {
		return ""
	}
	line := prompt + text.Line(clean(s.asked.open[0].call))
	if more := len(s.asked.open) - 1; more > 0 {
		line = fmt.Sprintf("(%d more) %s", more, line)
	}
	return line
}

// print adds text above the screen. It prints in pieces that fit into the free lines
// of the terminal.
func (s *screen) print(text string) tea.Cmd {
	room := s.height - (min(previewHeight, s.height/2) + 2 + s.input.Height()) - 1
	for piece := range slices.Chunk(strings.Split(text, "\n"), max(1, room)) {
		s.unprinted = append(s.unprinted, strings.Join(piece, "\n"))
	}
	return s.flush()
}

func (s *screen) flush() tea.Cmd {
	if s.printing || len(s.unprinted) == 0 {
		return nil
	}
	s.printing = true
	piece := s.unprinted[0]
	s.unprinted = s.unprinted[1:]
	if piece == "" {
		piece = " " // an empty line would not be printed
	}
	return tea.Sequence(tea.Println(piece), func() tea.Msg {
		return update(func() tea.Cmd {
			s.printing = false
			return s.flush()
		})
	})
}

func tail(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

func greeting(session string, width int) string {
	text := bold("Holdfast") + faint(" · session "+clean(session)+" · Ctrl-C stops a turn · Ctrl-D quits · /help")
	return lipgloss.Wrap(text, width, "") + "\n"
}

// said formats a message of the user.
func said(text string, width int) string {
	return lipgloss.Wrap(bold("› "+strings.ReplaceAll(clean(text), "\n", "\n  ")), width, "") + "\n"
}

// outcome formats the end of a turn.
func outcome(status domain.ReplyStatus, text string, width int) string {
	if status != domain.ReplyDone {
		return trouble(text, width)
	}
	return renderMarkdown(text, width) + "\n"
}

// trouble formats an error.
func trouble(text string, width int) string {
	return style(33, 39, lipgloss.Wrap("! "+clean(text), width, "")) + "\n"
}

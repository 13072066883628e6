package cli

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/holdfast-ai/holdfast/channels"
)

// previewHeight bounds the lines of a reply that is being written.
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
	}
	lines := append(above, s.input.View())
	view := tea.NewView(strings.Join(lines, "\n"))
	if view.Cursor = s.input.Cursor(); view.Cursor != nil {
		view.Cursor.Y += len(above)
	}
	return view
}

// status is the line that says what is going on, or what is asked.
func (s *screen) status() string {
	intensity, label := 2, s.label+" · Ctrl-C stops"
	if prompt := s.prompt(); prompt != "" {
		intensity, label = 1, prompt
	}
	return style(intensity, 22, statusLine(s.frame, label, time.Since(s.started), s.width))
}

// print puts text above what is drawn, after what was printed before. The terminal
// cannot take more at once than it has lines left.
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
		piece = " " // nothing at all is not printed
	}
	return tea.Sequence(tea.Println(piece), func() tea.Msg { return printedMsg{} })
}

func tail(lines []string, n int) []string { return lines[max(0, len(lines)-n):] }

func greeting(session string, width int) string {
	text := style(1, 22, "Holdfast") + style(2, 22, " · session "+clean(session)+" · Ctrl-C stops a turn · Ctrl-D leaves · /help")
	return lipgloss.Wrap(text, width, "") + "\n"
}

// said is a message as it stays on the screen.
func said(text string, width int) string {
	return lipgloss.Wrap(style(1, 22, "› "+strings.ReplaceAll(clean(text), "\n", "\n  ")), width, "") + "\n"
}

// outcome is what a turn ended with, as it stays on the screen.
func outcome(status channels.Status, text string, width int) string {
	if status != channels.Done {
		return trouble(text, width)
	}
	return renderMarkdown(text, width) + "\n"
}

// trouble is what went wrong, as it stays on the screen.
func trouble(text string, width int) string {
	return style(33, 39, lipgloss.Wrap("! "+clean(text), width, "")) + "\n"
}

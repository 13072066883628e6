package cli

import (
	tea "charm.land/bubbletea/v2"
)

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
	case update:
		return s, msg()
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
			return s.leave()
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

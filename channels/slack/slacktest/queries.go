package slacktest

import (
	"slices"
	"strings"
)

// Channel returns the messages of a channel, replies included, oldest first.
func (s *Server) Channel(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cloned(s.must(channel).messages)
}

// Thread returns a message and the replies to it, oldest first.
func (s *Server) Thread(channel, ts string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.must(channel)
	return cloned(slices.DeleteFunc(slices.Clone(c.messages), func(m *Message) bool { return m.TS != ts && m.ThreadTS != ts }))
}

// Message returns a message, or the zero Message if it does not exist.
func (s *Server) Message(channel, ts string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.must(channel).message(ts); m != nil {
		return m.clone()
	}
	return Message{}
}

// Ephemeral returns the ephemeral messages to a person in a channel.
func (s *Server) Ephemeral(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cloned(s.must(channel).ephemeral)
}

// Assistant returns what the app set for a thread.
func (s *Server) Assistant(channel, ts string) Assistant {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.must(channel).thread(ts)
}

// Posted returns what the app posted in all conversations, except ephemeral messages,
// oldest first.
func (s *Server) Posted() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Message
	for _, c := range s.channels {
		for _, m := range c.messages {
			if m.BotID == Bot {
				found = append(found, m.clone())
			}
		}
	}
	slices.SortFunc(found, func(a, b Message) int { return strings.Compare(a.TS, b.TS) })
	return found
}

func cloned(messages []*Message) []Message {
	out := make([]Message, len(messages))
	for i, m := range messages {
		out[i] = m.clone()
	}
	return out
}

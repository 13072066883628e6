package feishutest

import (
	"encoding/json"
	"slices"
	"time"
)

// Message is a message in a chat.
type Message struct {
	ID       string
	Chat     string
	Root     string // the message that began its topic, or the chain of replies
	Parent   string // the message that it answers
	Thread   string // its topic
	Type     string
	Content  string // JSON
	Sender   string // open ID; of the bot: [Bot]
	Mentions []string
	At       time.Time
	Key      string // uuid
	Deleted  bool
	Edits    int
	CardID   string // of a message that is a card by ID
}

// The platform's limits.
const (
	maxText     = 150 << 10
	maxCard     = 30 << 10
	keyLasts    = time.Hour
	editWindow  = 14 * 24 * time.Hour
	maxTextEdit = 20
	maxTables   = 1
)

// Posted returns the bot's messages that were not deleted, in order.
func (s *Server) Posted() []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Message
	for _, m := range s.messages {
		if m.Sender == Bot && !m.Deleted {
			found = append(found, s.shown(m))
		}
	}
	return found
}

// Messages returns all messages that were not deleted: those in groups, or those in direct
// chats.
func (s *Server) Messages(groups bool) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Message
	for _, m := range s.messages {
		if !m.Deleted && (s.chats[m.Chat].Person == "") == groups {
			found = append(found, s.shown(m))
		}
	}
	return found
}

// Buttons returns the labels of a card's buttons.
func (m Message) Buttons() []string {
	var content any
	if json.Unmarshal([]byte(m.Content), &content) != nil {
		return nil
	}
	var labels []string
	walk(content, func(element map[string]any) {
		if text, is := element["text"].(map[string]any); is && element["tag"] == "button" {
			label, _ := text["content"].(string)
			labels = append(labels, label)
		}
	})
	return labels
}

// shown returns a message as its readers see it: a card by ID as it is now. The mutex is
// held.
func (s *Server) shown(m *Message) Message {
	copied := *m
	if card := s.cards[m.CardID]; card != nil {
		copied.Content = card.Content
	}
	return copied
}

// Message returns a message.
func (s *Server) Message(id string) Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.find(id); m != nil {
		return s.shown(m)
	}
	return Message{}
}

// Recall has its author recall a message.
func (s *Server) Recall(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.find(id); m != nil {
		m.Deleted = true
	}
}

func (s *Server) find(id string) *Message {
	i := slices.IndexFunc(s.messages, func(m *Message) bool { return m.ID == id })
	if i < 0 {
		return nil
	}
	return s.messages[i]
}

// add adds a message to a chat.
func (s *Server) add(m Message) *Message {
	m.ID, m.At = s.id("om_"), s.now().Truncate(time.Millisecond)
	if n := len(s.messages); n > 0 && !m.At.After(s.messages[n-1].At) {
		m.At = s.messages[n-1].At.Add(time.Millisecond)
	}
	if c := s.chats[m.Chat]; c != nil && c.Topics && m.Thread == "" {
		m.Thread = s.id("omt_")
	}
	s.messages = append(s.messages, &m)
	return &m
}

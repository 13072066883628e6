package telegramtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode/utf16"
)

// SayOption changes what a person writes.
type SayOption func(*Server, *Message)

// InTopic writes in a topic.
func InTopic(topic int64) SayOption {
	return func(_ *Server, m *Message) { m.Thread, m.IsTopic = topic, true }
}

// Answering makes it the answer to a message of the chat.
func Answering(id int64) SayOption {
	return func(_ *Server, m *Message) {
		if to := m.Chat.find(id); to != nil {
			answered := *to
			answered.ReplyTo = nil
			m.ReplyTo = &answered
		}
	}
}

// WithPhoto adds a photo, of which Telegram makes two sizes. The text is its caption.
func WithPhoto(content []byte) SayOption {
	return func(s *Server, m *Message) {
		m.Photo = []File{s.store(File{Content: []byte("small")}), s.store(File{Content: content})}
	}
}

// WithDocument adds a file. The text is its caption.
func WithDocument(name, mime string, content []byte) SayOption {
	return func(s *Server, m *Message) {
		f := s.store(File{Name: name, MIME: mime, Content: content})
		m.Document = &f
	}
}

// WithVoice adds a voice message.
func WithVoice(content []byte) SayOption {
	return func(s *Server, m *Message) {
		f := s.store(File{MIME: "audio/ogg", Content: content})
		m.Voice = &f
	}
}

// InAlbum makes it a part of an album.
func InAlbum(album string) SayOption { return func(_ *Server, m *Message) { m.Album = album } }

// With changes the message as the test likes.
func With(change func(*Message)) SayOption { return func(_ *Server, m *Message) { change(m) } }

// Say has a person write in a chat.
func (s *Server) Say(person, to int64, text string, options ...SayOption) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, u := s.chats[to], s.people[person]
	u.met = true
	m := &Message{ID: s.next(c), From: u, Chat: c, Date: s.now().Unix(), Text: text}
	for _, o := range options {
		o(s, m)
	}
	if m.Photo != nil || m.Document != nil || m.Voice != nil || m.Video != nil || m.Audio != nil {
		m.Text, m.Caption = "", m.Text
	}
	m.Entities = append(m.Entities, marks(m.Text)...)
	c.messages = append(c.messages, m)
	if !s.sees(m) {
		return nil
	}
	return s.enqueue(map[string]any{"message": m}, c.ID)
}

// sees reports whether the bot is told of a message. The lock is held.
func (s *Server) sees(m *Message) bool {
	switch {
	case m.Chat.Type == "private":
		return true
	case m.From.IsBot:
		return false
	case !s.privacy, strings.HasPrefix(m.Text, "/"), m.ReplyTo != nil && m.ReplyTo.From.ID == BotID:
		return true
	}
	return strings.Contains(strings.ToLower(m.Text+m.Caption), "@"+BotName) || m.MigrateTo != 0
}

// marks returns the entities that Telegram finds in a text: commands and mentions.
func marks(text string) (all []Entity) {
	at := 0
	for _, word := range strings.SplitAfter(text, " ") {
		trimmed := strings.TrimSpace(word)
		switch {
		case strings.HasPrefix(trimmed, "/") && len(trimmed) > 1:
			all = append(all, Entity{Type: "bot_command", Offset: at, Length: Units(trimmed)})
		case strings.HasPrefix(trimmed, "@") && len(trimmed) > 1:
			all = append(all, Entity{Type: "mention", Offset: at, Length: Units(trimmed)})
		}
		at += Units(word)
	}
	return all
}

// Units counts UTF-16 units.
func Units(text string) int { return len(utf16.Encode([]rune(text))) }

// Edit has the author of a message change its text.
func (s *Server) Edit(chat, id int64, text string) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.chats[chat].find(id)
	if m.Caption != "" {
		m.Caption = text
	} else {
		m.Text = text
	}
	m.EditDate = s.now().Unix()
	return s.enqueue(map[string]any{"edited_message": m}, chat)
}

// Click is a click on a button of the bot's.
type Click struct {
	*Delivery
	ID       string
	Answered bool
	Answer   string // what only the person sees
}

// Press has a person click the button of a message that has this text.
func (s *Server) Press(person, chat, message int64, label string) (*Click, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.chats[chat].find(message)
	if m == nil {
		return nil, errors.New("no such message")
	}
	for _, b := range m.Buttons() {
		if b.Text == label {
			return s.press(person, m, b.Data), nil
		}
	}
	return nil, fmt.Errorf("no button %q", label)
}

// Forge has a client that is not Telegram's click with this data.
func (s *Server) Forge(person, chat, message int64, data string) *Click {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.press(person, s.chats[chat].find(message), data)
}

func (s *Server) press(person int64, m *Message, data string) *Click {
	s.minted++
	c := &Click{ID: fmt.Sprintf("4382%d", s.minted)}
	s.clicks[c.ID] = c
	c.Delivery = s.enqueue(map[string]any{"callback_query": map[string]any{
		"id": c.ID, "from": s.people[person], "message": m, "chat_instance": "1", "data": data,
	}}, m.Chat.ID)
	return c
}

// ClickOf returns a click as it is now.
func (s *Server) ClickOf(id string) Click {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.clicks[id]
}

// Raw delivers a payload as it is. It should have an update_id of 0, which is replaced.
func (s *Server) Raw(payload map[string]any) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enqueue(payload, 0)
}

// Again delivers an update again, with an ID of its own.
func (s *Server) Again(d *Delivery) *Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var payload map[string]any
	_ = json.Unmarshal(d.payload, &payload)
	return s.enqueue(payload, d.chat)
}

// ErrNotConfirmed is the error of an update that the bot got and did not confirm.
var ErrNotConfirmed = errors.New("not confirmed")

// Delivery is an update on its way to the bot.
type Delivery struct {
	ID      int64
	Message Message // that was written; its ID is 0 for others
	payload []byte
	chat    int64
	at      int64 // when it was made, in seconds

	mu        sync.Mutex
	told      chan struct{} // closed once the first outcome is known
	done      chan struct{} // closed once it is confirmed
	handed    int           // how often the bot got it
	confirmed bool
}

// First waits for what the bot does with the update when it first gets it, and returns nil
// or ErrNotConfirmed.
func (d *Delivery) First(ctx context.Context) error {
	select {
	case <-d.told:
	case <-ctx.Done():
		return ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.confirmed {
		return ErrNotConfirmed
	}
	return nil
}

// Wait waits until the bot has confirmed the update.
func (d *Delivery) Wait(ctx context.Context) error {
	select {
	case <-d.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Handed is how often the bot got the update.
func (d *Delivery) Handed() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.handed
}

// settle records whether the bot confirmed the update, when it last got it.
func (d *Delivery) settle(confirmed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.confirmed || !confirmed && d.handed == 0 {
		return
	}
	d.confirmed = confirmed
	select {
	case <-d.told:
	default:
		close(d.told)
	}
	if confirmed {
		close(d.done)
	}
}

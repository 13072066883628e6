package discordtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Message is a message.
type Message struct {
	ID              string            `json:"id"`
	ChannelID       string            `json:"channel_id"`
	Type            int               `json:"type"`
	Content         string            `json:"content"`
	Author          *User             `json:"author"`
	WebhookID       string            `json:"webhook_id,omitempty"`
	Timestamp       string            `json:"timestamp"`
	EditedTimestamp *string           `json:"edited_timestamp"`
	TTS             bool              `json:"tts"`
	MentionEveryone bool              `json:"mention_everyone"`
	Mentions        []*User           `json:"mentions"`
	MentionRoles    []string          `json:"mention_roles"`
	Attachments     []*Attachment     `json:"attachments"`
	Embeds          []any             `json:"embeds"`
	Components      []json.RawMessage `json:"components"`
	Pinned          bool              `json:"pinned"`
	Flags           int               `json:"flags"`
	Reference       *Reference        `json:"message_reference,omitempty"`
	Referenced      *Message          `json:"referenced_message,omitempty"`
	Snapshots       []any             `json:"message_snapshots,omitempty"`
	Stickers        []any             `json:"sticker_items,omitempty"`

	Edits     int                 `json:"-"`
	Pinged    bool                `json:"-"` // it notified somebody
	Reactions map[string][]string `json:"-"` // users by emoji
	nonce     string
}

// Reference names the message that one answers.
type Reference struct {
	Type      int    `json:"type"`
	MessageID string `json:"message_id,omitempty"`
	ChannelID string `json:"channel_id,omitempty"`
	GuildID   string `json:"guild_id,omitempty"`
	MustExist *bool  `json:"fail_if_not_exists,omitempty"`
}

// Attachment is a file of a message.
type Attachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int    `json:"size"`
	URL         string `json:"url"`
	ProxyURL    string `json:"proxy_url"`
	Content     []byte `json:"-"`
	Expired     bool   `json:"-"` // its address has
	version     int
}

// nonce is one that was used with enforce_nonce.
type nonce struct {
	message *Message
	until   time.Time
}

// SayOption changes a message that a person writes.
type SayOption func(*Server, *Message)

// InReplyTo makes a message the answer to another in its channel.
func InReplyTo(message string) SayOption {
	return func(s *Server, m *Message) {
		m.Type, m.Reference, m.Referenced = 19, &Reference{MessageID: message, ChannelID: m.ChannelID}, s.message(m.ChannelID, message)
	}
}

// WithFile attaches a file to a message.
func WithFile(name, kind, content string) SayOption {
	return func(s *Server, m *Message) { s.attach(m, name, kind, []byte(content)) }
}

// At makes a message one of a time in the past.
func At(t time.Time) SayOption { return func(s *Server, m *Message) { m.ID = s.mintAt(t) } }

// With changes a message.
func With(change func(*Message)) SayOption { return func(_ *Server, m *Message) { change(m) } }

// Say has somebody write a message in a channel, a thread or a direct chat.
func (s *Server) Say(user, channel, text string, options ...SayOption) *Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &Message{ChannelID: channel, Content: text, Author: s.users[user]}
	for _, option := range options {
		option(s, m)
	}
	s.mention(m)
	s.post(m)
	return m
}

// Redeliver delivers a message again.
func (s *Server) Redeliver(m *Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.announce(m)
}

var mentioned = regexp.MustCompile(`<@(!|&)?(\d+)>`)

// mention fills in whom the content mentions.
func (s *Server) mention(m *Message) {
	for _, found := range mentioned.FindAllStringSubmatch(m.Content, -1) {
		switch u := s.users[found[2]]; {
		case found[1] == "&":
			m.MentionRoles = append(m.MentionRoles, found[2])
		case u != nil && !slices.Contains(m.Mentions, u):
			m.Mentions = append(m.Mentions, u)
		}
	}
	m.MentionEveryone = strings.Contains(m.Content, "@everyone") || strings.Contains(m.Content, "@here")
}

// post adds a message and announces it. The mutex is held.
func (s *Server) post(m *Message) {
	if m.ID == "" {
		m.ID = s.mint()
	}
	m.Timestamp = time.UnixMilli(int64(number(m.ID)>>22) + 1_420_070_400_000).UTC().Format("2006-01-02T15:04:05.000000+00:00")
	m.Mentions, m.MentionRoles = orEmpty(m.Mentions), orEmpty(m.MentionRoles)
	m.Attachments, m.Embeds, m.Components = orEmpty(m.Attachments), orEmpty(m.Embeds), orEmpty(m.Components)
	m.Reactions = map[string][]string{}
	s.messages[m.ChannelID] = append(s.messages[m.ChannelID], m)
	slices.SortStableFunc(s.messages[m.ChannelID], func(a, b *Message) int { return int(number(a.ID)>>8) - int(number(b.ID)>>8) })
	c := s.channels[m.ChannelID]
	if number(m.ID) > number(c.LastMessageID) {
		c.LastMessageID = m.ID
	}
	if c.Metadata != nil && c.Metadata.Archived {
		c.Metadata = &ThreadMetadata{AutoArchiveDuration: 1440, ArchiveTimestamp: time.Now().UTC()}
		s.dispatch("THREAD_UPDATE", intentGuilds, c)
	}
	s.announce(m)
	s.Changed()
}

func orEmpty[T any](all []T) []T { return append([]T{}, all...) }

// announce sends a message to those who are connected. The mutex is held.
func (s *Server) announce(m *Message) {
	c := s.channels[m.ChannelID]
	event := s.event(m)
	if c.Type == TypeDirect {
		s.dispatch("MESSAGE_CREATE", intentDirects, event)
		return
	}
	s.dispatch("MESSAGE_CREATE", intentMessages, event)
}

// event returns a message as it is announced: with the nonce, and where it was written.
func (s *Server) event(m *Message) map[string]any {
	event := asMap(m)
	c := s.channels[m.ChannelID]
	event["channel_type"] = c.Type
	if m.nonce != "" {
		event["nonce"] = m.nonce
	}
	if c.Type != TypeDirect {
		event["guild_id"] = Guild
		member := s.member(m.Author.ID)
		delete(member, "user")
		event["member"] = member
	}
	return event
}

// asMap returns a value as it is in JSON.
func asMap(v any) map[string]any {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	var m map[string]any
	if err := json.Unmarshal(encoded, &m); err != nil {
		panic(err)
	}
	return m
}

// message returns a message; nil if there is none. The mutex is held.
func (s *Server) message(channel, id string) *Message {
	for _, m := range s.messages[channel] {
		if m.ID == id && id != "" {
			return m
		}
	}
	return nil
}

func (s *Server) attach(m *Message, name, kind string, content []byte) {
	a := &Attachment{ID: s.mint(), Filename: name, ContentType: kind, Size: len(content), Content: content}
	m.Attachments = append(m.Attachments, a)
	a.URL = s.fileURL(a)
	a.ProxyURL = a.URL
}

func (s *Server) fileURL(a *Attachment) string {
	return fmt.Sprintf("%s/attachments/%s/%d/%s", s.URL(), a.ID, a.version, a.Filename)
}

// Expire makes the addresses of a message's files invalid.
func (s *Server) Expire(m *Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range m.Attachments {
		a.version++
		a.URL = s.fileURL(a)
	}
}

// Messages returns copies of the messages in a channel, oldest first.
func (s *Server) Messages(channel string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Message
	for _, m := range s.messages[channel] {
		copied := *m
		copied.Reactions = maps.Clone(m.Reactions)
		all = append(all, copied)
	}
	return all
}

// Ours returns copies of the bot's messages in a channel, oldest first.
func (s *Server) Ours(channel string) []Message {
	return slices.DeleteFunc(s.Messages(channel), func(m Message) bool { return m.Author.ID != Self })
}

package telegramtest

import (
	"fmt"
	"net/http"
	"slices"
)

// User is an account.
type User struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name,omitempty"`
	Username  string `json:"username,omitempty"`
	blocked   bool   // the bot
	met       bool   // wrote to the bot
}

// chat is a chat with its messages.
type chat struct {
	ID       int64  `json:"id"`
	Type     string `json:"type"`
	Title    string `json:"title,omitempty"`
	Username string `json:"username,omitempty"`
	Forum    bool   `json:"is_forum,omitempty"`
	First    string `json:"first_name,omitempty"`

	members   []int64
	topics    []int64
	closed    string // why nothing can be sent; empty: it can
	migrateTo int64
	messages  []*Message
	last      int64 // of a supergroup: the last ID of a message
}

// Message is a message.
type Message struct {
	ID        int64     `json:"message_id"`
	Thread    int64     `json:"message_thread_id,omitempty"`
	IsTopic   bool      `json:"is_topic_message,omitempty"`
	From      *User     `json:"from,omitempty"`
	Chat      *chat     `json:"chat"`
	Date      int64     `json:"date"`
	EditDate  int64     `json:"edit_date,omitempty"`
	Album     string    `json:"media_group_id,omitempty"`
	Text      string    `json:"text,omitempty"`
	Entities  []Entity  `json:"entities,omitempty"`
	Caption   string    `json:"caption,omitempty"`
	ReplyTo   *Message  `json:"reply_to_message,omitempty"`
	Quote     any       `json:"quote,omitempty"`
	Origin    any       `json:"forward_origin,omitempty"`
	Photo     []File    `json:"photo,omitempty"`
	Voice     *File     `json:"voice,omitempty"`
	Audio     *File     `json:"audio,omitempty"`
	Video     *File     `json:"video,omitempty"`
	Document  *File     `json:"document,omitempty"`
	Animation *File     `json:"animation,omitempty"`
	Sticker   any       `json:"sticker,omitempty"`
	Location  any       `json:"location,omitempty"`
	Venue     any       `json:"venue,omitempty"`
	Contact   any       `json:"contact,omitempty"`
	Poll      any       `json:"poll,omitempty"`
	MigrateTo int64     `json:"migrate_to_chat_id,omitempty"`
	Markup    *Keyboard `json:"reply_markup,omitempty"`

	Deleted bool `json:"-"`
	Edits   int  `json:"-"`
}

// Entity marks a part of a text, in UTF-16 units.
type Entity struct {
	Type     string `json:"type"`
	Offset   int    `json:"offset"`
	Length   int    `json:"length"`
	URL      string `json:"url,omitempty"`
	Language string `json:"language,omitempty"`
	User     *User  `json:"user,omitempty"`
}

// Keyboard are the buttons below a message.
type Keyboard struct {
	Rows [][]Button `json:"inline_keyboard"`
}

// Button is a button.
type Button struct {
	Text string `json:"text"`
	Data string `json:"callback_data,omitempty"`
	URL  string `json:"url,omitempty"`
}

// Buttons returns the buttons of a message.
func (m Message) Buttons() []Button {
	if m.Markup == nil {
		return nil
	}
	return slices.Concat(m.Markup.Rows...)
}

// File is a file that Telegram stores.
type File struct {
	ID      string `json:"file_id"`
	Unique  string `json:"file_unique_id"`
	Name    string `json:"file_name,omitempty"`
	MIME    string `json:"mime_type,omitempty"`
	Size    int64  `json:"file_size"`
	Path    string `json:"file_path,omitempty"`
	Content []byte `json:"-"`
}

// Command is an item of the menu of commands.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

func (s *Server) populate() {
	for _, u := range []*User{
		{ID: BotID, IsBot: true, FirstName: "Holdfast", Username: BotName},
		{ID: Bot2, IsBot: true, FirstName: "Other", Username: "other_bot"},
		{ID: Ana, FirstName: "Ana", LastName: "Souza", Username: "ana"},
		{ID: Ben, FirstName: "Ben"},
	} {
		s.addUser(u)
	}
	for _, c := range []*chat{
		{ID: Group, Type: "group", Title: "Team", members: []int64{BotID, Ana, Ben}},
		{ID: Forum, Type: "supergroup", Title: "Forum", Forum: true, members: []int64{BotID, Ana, Ben}, topics: []int64{Topic}, last: 1000},
		{ID: Channel, Type: "channel", Title: "News", Username: "thenews"},
		{ID: OldGroup, Type: "group", Title: "Moved", members: []int64{BotID, Ana}, migrateTo: NewGroup},
		{ID: NewGroup, Type: "supergroup", Title: "Moved", members: []int64{BotID, Ana}},
	} {
		s.chats[c.ID] = c
	}
}

func (s *Server) addUser(u *User) {
	s.people[u.ID] = u
	s.chats[u.ID] = &chat{ID: u.ID, Type: "private", First: u.FirstName, Username: u.Username, members: []int64{u.ID}}
}

// AddPerson adds a person who has not written yet.
func (s *Server) AddPerson(id int64, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addUser(&User{ID: id, FirstName: name})
}

// Block has a person block the bot, or not any more.
func (s *Server) Block(person int64, blocked bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people[person].blocked = blocked
}

// CloseChat has a chat refuse what is sent to it with this text; empty: no longer.
func (s *Server) CloseChat(chat int64, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[chat].closed = why
}

// next returns the ID of a chat's next message. The lock is held.
func (s *Server) next(c *chat) int64 {
	if c.Type == "supergroup" || c.Type == "channel" {
		c.last++
		return c.last
	}
	s.direct++
	return s.direct
}

// find returns a message; nil if it is not there. The lock is held.
func (c *chat) find(id int64) *Message {
	for _, m := range c.messages {
		if m.ID == id && !m.Deleted {
			return m
		}
	}
	return nil
}

// writable returns why the bot cannot write to a chat. The lock is held.
func (s *Server) writable(c *chat) *refusal {
	switch {
	case c.closed != "":
		return refused(http.StatusForbidden, c.closed)
	case c.migrateTo != 0:
		r := refused(http.StatusBadRequest, "Bad Request: group chat was upgraded to a supergroup chat")
		r.Parameters = map[string]any{"migrate_to_chat_id": c.migrateTo}
		return r
	case c.Type == "private" && s.people[c.ID].blocked:
		return refused(http.StatusForbidden, "Forbidden: bot was blocked by the user")
	case c.Type == "private" && s.people[c.ID].IsBot:
		return refused(http.StatusForbidden, "Forbidden: bots can't send messages to bots")
	case c.Type == "private" && !s.people[c.ID].met:
		return refused(http.StatusBadRequest, "Bad Request: chat not found")
	case c.Type != "private" && !slices.Contains(c.members, BotID):
		return refused(http.StatusForbidden, fmt.Sprintf("Forbidden: bot is not a member of the %s chat", c.Type))
	}
	return nil
}

// Messages returns the messages of a chat that are not deleted, in order.
func (s *Server) Messages(chat int64) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Message
	for _, m := range s.chats[chat].messages {
		if !m.Deleted {
			all = append(all, *m)
		}
	}
	return all
}

// Posted returns the bot's messages in a chat that are not deleted, in order.
func (s *Server) Posted(chat int64) []Message {
	return slices.DeleteFunc(s.Messages(chat), func(m Message) bool { return m.From.ID != BotID })
}

// Commands returns the menu of commands.
func (s *Server) Commands() []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commands
}

// FileOf returns a file by its ID.
func (s *Server) FileOf(id string) File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.files[id]
}

// store stores a file. The lock is held.
func (s *Server) store(f File) File {
	s.minted++
	f.ID, f.Unique = fmt.Sprintf("file-%d", s.minted), fmt.Sprintf("unique-%d", s.minted)
	if f.Size == 0 {
		f.Size = int64(len(f.Content))
	}
	s.files[f.ID] = &f
	return f
}

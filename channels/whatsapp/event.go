package whatsapp

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// message is a message as the webhook has it.
type message struct {
	ID       string `json:"id"`
	From     string `json:"from"` // phone number; missing for people who hide it
	FromUser string `json:"from_user_id"`
	Time     string `json:"timestamp"`
	Type     string `json:"type"`
	Text     struct {
		Body string `json:"body"`
	} `json:"text"`
	Image       *media `json:"image"`
	Video       *media `json:"video"`
	Audio       *media `json:"audio"`
	Document    *media `json:"document"`
	Sticker     *media `json:"sticker"`
	Interactive struct {
		Button reply `json:"button_reply"`
		List   reply `json:"list_reply"`
	} `json:"interactive"`
	Button struct {
		Text string `json:"text"`
	} `json:"button"`
	Location *struct {
		Latitude  float64 `json:"latitude"`
		Longitude float64 `json:"longitude"`
		Name      string  `json:"name"`
		Address   string  `json:"address"`
	} `json:"location"`
}

// reply is what somebody chose.
type reply struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

type media struct {
	ID      string `json:"id"`
	MIME    string `json:"mime_type"`
	Caption string `json:"caption"`
	Name    string `json:"filename"`
}

// chat is whom the message is from: the phone number or, of people who hide it, Meta's ID.
func (m *message) chat() string { return cmp.Or(m.From, m.FromUser) }

func (m *message) sentAt() time.Time {
	seconds, err := strconv.ParseInt(m.Time, 10, 64)
	if err != nil || seconds <= 0 || seconds > 1<<40 {
		return time.Now().UTC()
	}
	return time.Unix(seconds, 0).UTC()
}

// readMessage returns the delivery of a message; nil if it carries none, such as a reaction.
func (p *platform) readMessage(m *message, contacts []contact) (chat.Delivery, error) {
	if m.ID == "" || m.chat() == "" || strings.Contains(m.chat(), "/") {
		return nil, fmt.Errorf("%w: a message without ID or author", chat.ErrMalformed)
	}
	from := chat.Origin{Direct: true}
	from.Inbound = domain.Inbound{
		Scope: m.chat(), PlatformID: m.ID, Chat: m.chat(), Sender: m.chat(), SenderName: m.name(contacts), SentAt: m.sentAt(),
	}
	if m.FromUser != "" && slices.Contains(p.o.Users, m.FromUser) {
		from.Sender = m.FromUser
	}
	action, value, _ := strings.Cut(m.Interactive.Button.ID, ":")
	if a := chat.Action(action); slices.Contains([]chat.Action{chat.ActionApprove, chat.ActionDeny, chat.ActionStop}, a) {
		return &chat.Click{Origin: from, Action: a, Value: value}, nil
	}
	from.Text, from.Files = m.text(), m.files()
	if from.Text == "" && len(from.Files) == 0 {
		return nil, nil
	}
	return &chat.Post{Origin: from, Mentioned: true}, nil
}

func (m *message) name(contacts []contact) string {
	for _, c := range contacts {
		if c.WaID != "" && c.WaID == m.From || c.UserID != "" && c.UserID == m.FromUser {
			return c.Profile.Name
		}
	}
	return ""
}

func (m *message) text() string {
	if l := m.Location; l != nil {
		return strings.TrimSpace(fmt.Sprintf("Location: %g, %g %s", l.Latitude, l.Longitude, strings.TrimSpace(l.Name+" "+l.Address)))
	}
	for _, f := range m.media() {
		if f != nil && f.Caption != "" {
			return f.Caption
		}
	}
	return cmp.Or(m.Text.Body, m.Button.Text, m.Interactive.Button.Title, m.Interactive.List.Title)
}

func (m *message) media() []*media {
	return []*media{m.Image, m.Video, m.Audio, m.Document, m.Sticker}
}

func (m *message) files() []domain.File {
	var files []domain.File
	for _, f := range m.media() {
		if f != nil && f.ID != "" {
			files = append(files, domain.File{ID: f.ID, Name: cmp.Or(f.Name, m.Type+extensionOf(f.MIME)), MIME: f.MIME})
		}
	}
	return files
}

package telegram

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// maxDate bounds times, in seconds: dates have years of four digits.
const maxDate = 1 << 37

// maxAlbums bounds the groups whose last album is remembered.
const maxAlbums = 1_000

// parse parses an update. d is nil if it asks for nothing. A field that is not of the type
// that we know is left out.
func (p *platform) parse(payload []byte) (u update, d chat.Delivery, err error) {
	defer chat.RecoverPanic(&err)
	if err := json.Unmarshal(payload, &u); err != nil {
		if _, other := errors.AsType[*json.UnmarshalTypeError](err); !other {
			return u, nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
		}
		p.o.Logger.Warn("update with an unknown field", "id", u.ID, "err", err)
	}
	self, known := p.known()
	if !known {
		return u, nil, errors.New("not yet identified with telegram")
	}
	switch {
	case u.Callback != nil:
		d, err = u.Callback.click()
	case u.Edited != nil:
		d, err = p.post(u.Edited, self)
	case u.Message != nil:
		d, err = p.post(u.Message, self)
	}
	return u, d, err
}

// post returns a message as the core takes it; nil if nobody wrote it to us. The same
// message always gives the same one.
func (p *platform) post(m *message, self user) (chat.Delivery, error) {
	if m.Chat.ID == 0 || m.ID <= 0 {
		return nil, fmt.Errorf("%w: a message without a chat or an ID", chat.ErrMalformed)
	}
	if m.MigrateTo != 0 {
		p.o.Logger.Warn("a group has a new ID: put it into channels.telegram.allow_groups", "old", m.Chat.ID, "new", m.MigrateTo)
	}
	direct := m.Chat.Type == "private"
	said, forUs, ok := m.command(self)
	if m.From == nil || m.AutoForward || !ok || m.EditDate != 0 && m.moves() {
		return nil, nil
	}
	d := &chat.Post{Own: m.From.ID == self.ID, Mentioned: forUs || p.mentioned(m, self)}
	d.Direct, d.Bot = direct, m.From.IsBot
	d.Inbound = domain.Inbound{
		Scope: id(m.Chat.ID), PlatformID: id(m.ID), Chat: id(m.Chat.ID), Thread: m.topic(),
		Sender: id(m.From.ID), SenderName: m.From.name(), Text: m.readable(said, self), Files: m.files(self), SentAt: m.sentAt(),
	}
	if m.EditDate != 0 {
		d.Revision = id(m.EditDate)
	}
	if d.Text == "" && len(d.Files) == 0 && strings.Contains(m.Text, "@") && d.Mentioned {
		d.Text = "@" + self.Username // asks us to look at what was said before
	}
	return d, nil
}

// sentAt is when the message was written; zero if that cannot be.
func (m *message) sentAt() time.Time {
	if m.Date <= 0 || m.Date > maxDate {
		return time.Time{}
	}
	return time.Unix(m.Date, 0).UTC()
}

// topic is the topic of a group that the message is in; empty: none, or the general one.
func (m *message) topic() string {
	if !m.IsTopic || m.Thread <= 1 {
		return ""
	}
	return id(m.Thread)
}

// moves reports whether the message is a location that Telegram keeps editing.
func (m *message) moves() bool { return m.Location != nil && len(m.Location.Live) > 0 }

// mentioned reports whether a message in a group is for us.
func (p *platform) mentioned(m *message, self user) bool {
	mentioned := m.mentions(self) || p.o.Respond != RespondMention && m.answered() != nil && m.answered().isFrom(self)
	if m.Album == "" {
		return mentioned
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if mentioned {
		if len(p.albums) >= maxAlbums {
			clear(p.albums)
		}
		p.albums[m.Chat.ID] = m.Album // its other pictures have no text
	}
	return p.albums[m.Chat.ID] == m.Album
}

func (m *message) isFrom(u user) bool { return m.From != nil && m.From.ID == u.ID }

// answered is the message that this one answers; nil if none. Every message of a topic
// answers the one that began it, for clients that know no topics.
func (m *message) answered() *message {
	if m.ReplyTo == nil || m.IsTopic && m.ReplyTo.ID == m.Thread {
		return nil
	}
	return m.ReplyTo
}

// mentions reports whether the text mentions a user.
func (m *message) mentions(u user) bool {
	for _, e := range append(m.Entities, m.CaptionEntities...) {
		if e.User != nil && e.User.ID == u.ID {
			return true
		}
	}
	return mentionOf(u).MatchString(m.Text + "\n" + m.Caption)
}

// command returns the text with a command as the core knows it, and whether it is one for
// us. It reports false if it is a command for another bot.
func (m *message) command(self user) (text string, forUs, ok bool) {
	text = m.Text
	word, rest := text, ""
	if end := strings.IndexAny(text, " \n\t"); end >= 0 {
		word, rest = text[:end], text[end:]
	}
	name, to, named := strings.Cut(word, "@")
	switch {
	case !strings.HasPrefix(word, "/"):
		return text, false, true
	case named && !strings.EqualFold(to, self.Username):
		return "", false, false
	case strings.EqualFold(name, "/start"):
		return "/" + string(domain.CommandHelp), true, true
	}
	command, _ := domain.ParseCommand(name)
	return name + rest, named || command != domain.CommandNone, true
}

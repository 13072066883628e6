package discord

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

type user struct {
	ID         string `json:"id"`
	Username   string `json:"username"`
	GlobalName string `json:"global_name"`
	Bot        bool   `json:"bot"`
}

func (u user) name() string { return cmp.Or(u.GlobalName, u.Username) }

type attachment struct {
	ID          string `json:"id"`
	Filename    string `json:"filename"`
	ContentType string `json:"content_type"`
	Size        int64  `json:"size"`
	URL         string `json:"url"`
}

// The types of messages that somebody wrote, and of the one that repeats how a thread began.
const (
	typeMessage = 0
	typeReply   = 19
	typeStarter = 21
)

// message is a message. Those of the history have no GuildID.
type message struct {
	id        snowflake
	ID        string `json:"id"`
	ChannelID string `json:"channel_id"`
	GuildID   string `json:"guild_id"`
	Type      int    `json:"type"`
	Content   string `json:"content"`
	Author    user   `json:"author"`
	Member    struct {
		Nick string `json:"nick"`
	} `json:"member"`
	WebhookID    string       `json:"webhook_id"`
	Mentions     []user       `json:"mentions"`
	MentionRoles []string     `json:"mention_roles"`
	Attachments  []attachment `json:"attachments"`
	Stickers     []struct {
		Name string `json:"name"`
	} `json:"sticker_items"`
	Referenced *message `json:"referenced_message"` // that it answers
	Snapshots  []struct {
		Message message `json:"message"`
	} `json:"message_snapshots"` // that it forwards
}

// readMessage decodes a message.
func readMessage(data []byte) (*message, error) {
	m := &message{}
	if err := decode(data, m); err != nil {
		return nil, err
	}
	var valid bool
	m.id, valid = parseID(m.ID)
	if _, inChannel := parseID(m.ChannelID); !valid || !inChannel || m.Author.ID == "" {
		return nil, fmt.Errorf("%w: a message without ID, channel or author", chat.ErrMalformed)
	}
	return m, nil
}

func (m *message) isBot() bool { return m.Author.Bot || m.WebhookID != "" }

func (m *message) senderName() string { return cmp.Or(m.Member.Nick, m.Author.name()) }

// post returns the message, which was written in a channel, as the core takes it. The same
// message always gives the same one.
func (p *platform) post(m *message, in channel) (*chat.Post, error) {
	self, err := p.known()
	if err != nil {
		return nil, err
	}
	d := &chat.Post{
		Mentioned: p.mentions(m, self.id), Own: m.Author.ID == self.id, Replies: in.isThread() && in.OwnerID == self.id,
	}
	d.Inbound = domain.Inbound{
		PlatformID: m.ID, Chat: chatOf(m.GuildID, m.ChannelID), Sender: m.Author.ID, SenderName: m.senderName(),
		SentAt: m.id.time(),
	}
	if in.isThread() {
		d.Chat, d.Thread = chatOf(m.GuildID, in.ParentID), m.ChannelID
	}
	d.Direct, d.Bot = m.GuildID == "", m.isBot()
	if m.WebhookID != "" {
		d.BotIDs = []string{m.WebhookID}
	}
	if m.Type == typeMessage || m.Type == typeReply { // the others report that something happened
		d.Text, d.Files = p.text(m, self.id), m.files()
	}
	return d, nil
}

// mentions reports whether a message mentions us: by name, by our role, or as the answer to
// a message of ours.
func (p *platform) mentions(m *message, self string) bool {
	return strings.Contains(m.Content, "<@"+self+">") || slices.ContainsFunc(m.Mentions, func(u user) bool { return u.ID == self }) ||
		slices.ContainsFunc(m.MentionRoles, p.announced.isOurRole) || m.Referenced != nil && m.Referenced.Author.ID == self
}

// text returns what a message says: after what it answers, if somebody else wrote that, and
// with what it forwards.
func (p *platform) text(m *message, self string) string {
	var parts []string
	said := p.readable(m, self)
	if r := m.Referenced; r != nil && r.Author.ID != self && said != "" {
		if answered := p.readable(r, ""); answered != "" {
			parts = append(parts, quoted("In reply to "+r.senderName()+":", answered))
		}
	}
	parts = append(parts, said)
	for _, s := range m.Snapshots {
		if forwarded := p.readable(&s.Message, ""); forwarded != "" {
			parts = append(parts, quoted("Forwarded message:", forwarded))
		}
	}
	for _, s := range m.Stickers {
		parts = append(parts, "[sticker: "+s.Name+"]")
	}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "\n\n")
}

func quoted(head, text string) string {
	return "> " + strings.ReplaceAll(head+"\n"+text, "\n", "\n> ")
}

var (
	mention = regexp.MustCompile(`<(@[!&]?|#)(\d{1,20})>`)
	emoji   = regexp.MustCompile(`<a?(:\w{1,40}:)\d{1,20}>`)
)

// readable returns a message's content as a person reads it: without a leading mention of
// self (our user ID), with names for the IDs that it mentions, and without our mark.
func (p *platform) readable(m *message, self string) string {
	text := strings.TrimSpace(strings.Map(printable, unmarked(m.Content)))
	if at := mention.FindStringSubmatchIndex(text); self != "" && at != nil && at[0] == 0 {
		who, id := text[at[2]:at[3]], text[at[4]:at[5]]
		if id == self || who == "@&" && p.announced.isOurRole(id) {
			text = strings.TrimLeft(text[at[1]:], " ,:\n\t")
		}
	}
	text = emoji.ReplaceAllString(text, "$1")
	return mention.ReplaceAllStringFunc(text, func(found string) string {
		parts := mention.FindStringSubmatch(found)
		if c, known := p.announced.get(parts[2]); known && parts[1] == "#" {
			return "#" + c.Name
		}
		for _, u := range m.Mentions {
			if u.ID == parts[2] && strings.HasPrefix(parts[1], "@") {
				return "@" + u.name()
			}
		}
		return found
	})
}

// printable drops control characters except line breaks and tabs.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// files returns the attachments of a message and of those that it forwards.
func (m *message) files() []domain.File {
	var files []domain.File
	for _, a := range m.Attachments {
		files = append(files, domain.File{
			ID: m.ChannelID + "/" + m.ID + "/" + a.ID, Name: cmp.Or(a.Filename, a.ID), MIME: a.ContentType, Size: a.Size, URL: a.URL,
		})
	}
	for _, s := range m.Snapshots {
		for _, f := range s.Message.files() {
			f.ID = "" // we cannot see where it comes from
			files = append(files, f)
		}
	}
	return files
}

package telegram

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

const (
	quoteLimit = 4000 // characters of a message that is quoted
	nameLimit  = 100  // characters of a name
)

// mentionOf matches a mention of an account by its username.
func mentionOf(u user) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[^\pL\pN_@])@` + regexp.QuoteMeta(u.Username) + `(?:$|[^\pL\pN_])`)
}

// readable returns a message as a person reads it, with what it answers and forwards. said
// is its text.
func (m *message) readable(said string, self user) string {
	body := m.Caption
	entities := m.CaptionEntities
	if said != "" {
		body, entities = said, m.Entities
	}
	if said == m.Text {
		body = marked(body, entities)
	}
	body = withoutMention(clean(body), self)
	command, _ := domain.ParseAnswer(body)
	if command != domain.CommandNone && m.Origin == nil {
		return body // a quotation would hide it
	}
	body = joined(body, m.describe())
	if m.Origin != nil {
		body = quoted("Forwarded message from "+m.Origin.name()+":", body)
	}
	return joined(m.quotation(self), body)
}

// quotation is what the message answers. Our own messages are known, unless a part of one
// was picked.
func (m *message) quotation(self user) string {
	to := m.answered()
	picked := ""
	if m.Quote != nil {
		picked = clean(m.Quote.Text)
	}
	switch {
	case to != nil && to.isFrom(self):
		if picked == "" {
			return ""
		}
		return quoted("In reply to your message:", picked)
	case to != nil:
		said := cmp.Or(picked, joined(clean(cmp.Or(to.Text, to.Caption)), to.describe()))
		if said == "" && len(to.files(self)) == 0 {
			return ""
		}
		return quoted("In reply to "+to.author()+":", text.CutRunes(said, quoteLimit))
	case m.External != nil && picked != "":
		return quoted("In reply to "+m.External.Origin.name()+" in another chat:", picked)
	}
	return ""
}

func (m *message) author() string {
	if m.From == nil {
		return "somebody"
	}
	return cmp.Or(m.From.name(), id(m.From.ID))
}

// name is who wrote a forwarded message.
func (o *origin) name() string {
	switch {
	case o == nil:
	case o.Sender != nil:
		return cmp.Or(o.Sender.name(), id(o.Sender.ID))
	case o.SenderName != "":
		return oneLine(o.SenderName)
	case o.SenderChat != nil:
		return oneLine(o.SenderChat.Title)
	case o.Chat != nil:
		return oneLine(o.Chat.Title)
	}
	return "somebody"
}

// describe returns what the message has besides text and files.
func (m *media) describe() string {
	switch {
	case m.Sticker != nil:
		return strings.TrimSpace("[sticker " + oneLine(m.Sticker.Emoji+" "+m.Sticker.Set) + "]")
	case m.Venue != nil:
		return fmt.Sprintf("[place: %s, %s, %s]", oneLine(m.Venue.Title), oneLine(m.Venue.Address), m.Venue.Location)
	case m.Location != nil:
		return fmt.Sprintf("[location: %s]", *m.Location)
	case m.Contact != nil:
		return fmt.Sprintf("[contact: %s, %s]", oneLine(m.Contact.FirstName+" "+m.Contact.LastName), oneLine(m.Contact.Phone))
	case m.Poll != nil:
		lines := []string{"[poll: " + oneLine(m.Poll.Question) + "]"}
		for _, o := range m.Poll.Options {
			lines = append(lines, "- "+oneLine(o.Text))
		}
		return strings.Join(lines, "\n")
	case m.Dice != nil:
		return fmt.Sprintf("[%s %d]", oneLine(m.Dice.Emoji), m.Dice.Value)
	}
	return ""
}

// String formats a location as maps take it.
func (l location) String() string { return fmt.Sprintf("%g, %g", l.Latitude, l.Longitude) }

// marked returns a text with its links and code as Markdown. What else is marked, such as
// bold text, needs no markup to be understood.
func marked(s string, entities []entity) string {
	units := utf16.Encode([]rune(s))
	open, closed := map[int]string{}, map[int]string{}
	for _, e := range entities {
		end := e.Offset + e.Length
		if e.Offset < 0 || e.Length <= 0 || end > len(units) || end < 0 {
			continue
		}
		switch e.Type {
		case "text_link":
			open[e.Offset] += "["
			closed[end] = "](" + oneLine(e.URL) + ")" + closed[end]
		case "code":
			open[e.Offset] += "`"
			closed[end] = "`" + closed[end]
		case "pre":
			open[e.Offset] += "```" + oneLine(e.Language) + "\n"
			closed[end] = "\n```" + closed[end]
		}
	}
	if len(open) == 0 {
		return s
	}
	var out []uint16
	for i := range len(units) + 1 {
		out = append(out, utf16.Encode([]rune(closed[i]+open[i]))...)
		if i < len(units) {
			out = append(out, units[i])
		}
	}
	return string(utf16.Decode(out))
}

// withoutMention removes a mention of an account at the beginning, and the punctuation after it.
func withoutMention(s string, u user) string {
	s = strings.TrimSpace(s)
	at := mentionOf(u).FindStringIndex(s)
	if u.Username == "" || at == nil || at[0] != 0 || s[0] != '@' {
		return s
	}
	return strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s[1+len(u.Username):]), ",:"))
}

func quoted(title, said string) string {
	return "> " + strings.ReplaceAll(strings.TrimSpace(title+"\n"+said), "\n", "\n> ")
}

// joined joins the texts that are not empty.
func joined(texts ...string) string {
	var all []string
	for _, t := range texts {
		if t != "" {
			all = append(all, t)
		}
	}
	return strings.Join(all, "\n\n")
}

// clean drops control characters except line breaks and tabs, and blank margins.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s))
}

// oneLine is clean on one line, cut.
func oneLine(s string) string { return text.CutRunes(text.Line(clean(s)), nameLimit) }

package email

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	gomail "github.com/emersion/go-message/mail"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

const (
	subjectLength = 70 // characters of a subject made of a text
	maxReferences = 30
)

// letter is a mail that we write.
type letter struct {
	id      string // Message-ID
	from    gomail.Address
	to      string
	subject string
	answers *mail // nil: none
	reply   bool  // somebody wrote first
	chat.Message
}

// compose returns a mail: its text as it is and as HTML, and its file.
func (l letter) compose() ([]byte, error) {
	var b bytes.Buffer
	mixed, err := gomail.CreateWriter(&b, l.header())
	if err != nil {
		return nil, fmt.Errorf("write a mail: %w", err)
	}
	text, err := mixed.CreateInline()
	if err != nil {
		return nil, fmt.Errorf("write a mail: %w", err)
	}
	for _, part := range []struct{ kind, content string }{{"text/plain", l.Text}, {"text/html", htmlOf(l.Text)}} {
		var h gomail.InlineHeader
		h.SetContentType(part.kind, map[string]string{"charset": "utf-8"})
		h.Set("Content-Transfer-Encoding", "quoted-printable")
		if err := write(part.content)(text.CreatePart(h)); err != nil {
			return nil, err
		}
	}
	if err := text.Close(); err != nil {
		return nil, fmt.Errorf("write a mail: %w", err)
	}
	if l.File != "" {
		var h gomail.AttachmentHeader
		kind := mime.TypeByExtension(path.Ext(l.File))
		if kind == "" {
			kind = "application/octet-stream"
		}
		h.Set("Content-Type", kind)
		h.Set("Content-Transfer-Encoding", "base64")
		h.SetFilename(oneLine(l.File))
		if err := write(string(l.Content))(mixed.CreateAttachment(h)); err != nil {
			return nil, err
		}
	}
	if err := mixed.Close(); err != nil {
		return nil, fmt.Errorf("write a mail: %w", err)
	}
	return b.Bytes(), nil
}

// write returns a function that writes the content of a part and ends it.
func write(content string) func(io.WriteCloser, error) error {
	return func(part io.WriteCloser, err error) error {
		if err == nil {
			_, err = io.WriteString(part, content)
		}
		if err == nil {
			err = part.Close()
		}
		if err != nil {
			return fmt.Errorf("write a part of a mail: %w", err)
		}
		return nil
	}
}

// header returns the mail's header. It tells other programs not to answer.
func (l letter) header() gomail.Header {
	var h gomail.Header
	submitted := "auto-generated"
	if l.reply {
		submitted = "auto-replied"
	}
	h.Set("X-Auto-Response-Suppress", "All")
	h.Set("Auto-Submitted", submitted)
	if l.answers != nil && l.answers.hasID {
		refers := append(slices.Clone(l.answers.refers), l.answers.id)
		if n := len(refers); n > maxReferences {
			refers = append(refers[:1:1], refers[n-maxReferences+1:]...)
		}
		h.SetMsgIDList("References", refers)
		h.SetMsgIDList("In-Reply-To", []string{l.answers.id})
	}
	h.SetMessageID(l.id)
	h.SetDate(time.Now())
	h.SetSubject(oneLine(l.subject))
	h.SetAddressList("To", []*gomail.Address{{Address: l.to}})
	h.SetAddressList("From", []*gomail.Address{&l.from})
	return h
}

var answered = regexp.MustCompile(`(?i)^(re|aw|sv|antw)\s*:`)

// subjectOf returns the subject of a reply, or one made of a text.
func subjectOf(answers *mail, msg chat.Message) string {
	if answers != nil && answers.subject != "" {
		if answered.MatchString(answers.subject) {
			return answers.subject
		}
		return "Re: " + answers.subject
	}
	for line := range strings.Lines(msg.Text) {
		line = strings.Trim(line, " \t\r\n#*_`>-")
		if runes := []rune(line); len(runes) > subjectLength {
			return string(runes[:subjectLength-1]) + "…"
		}
		if line != "" {
			return line
		}
	}
	if msg.File != "" {
		return msg.File
	}
	return "Message"
}

const (
	pageHead = `<!DOCTYPE html><html><head><meta charset="utf-8"></head><body style="font-family: sans-serif">` + "\n"
	pageTail = "</body></html>\n"
)

// htmlOf returns Markdown as a page.
func htmlOf(text string) string { return pageHead + markdown.HTML(text) + pageTail }

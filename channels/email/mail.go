package email

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/emersion/go-message"
	gomail "github.com/emersion/go-message/mail"
	"golang.org/x/net/html/charset"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func init() { message.CharsetReader = charset.NewReaderLabel }

const (
	maxDepth   = 20      // of parts within each other
	maxParts   = 200     // of a mail
	maxText    = 1 << 20 // bytes of a part that is text
	maxIDs     = 100     // that a mail refers to
	maxSubject = 200     // characters
)

// mail is a mail as it was parsed. What cannot be parsed is missing from it.
type mail struct {
	header   message.Header
	id       string   // Message-ID; made of the header's hash if the mail has none
	hasID    bool     // the mail has one
	answers  string   // ID of the mail that it answers; empty: none
	refers   []string // IDs of the earlier mails of its thread, in order
	from     string   // address; empty: none, or several
	name     string   // of the author
	to       []string // addresses, also of copies
	subject  string
	text     string // of its body, without earlier mail that is quoted below
	quoted   string // that earlier mail
	files    []file
	partial  bool // it is too large: only its beginning was read
	overfull bool // some of its parts were not read
}

// file is an attachment, or an image within the text.
type file struct {
	domain.File
	content []byte
}

// parse parses a mail. It never fails, and takes bounded time and memory.
func parse(raw []byte) *mail {
	m := &mail{}
	var failed error
	func() {
		defer chat.RecoverPanic(&failed)
		m.parse(raw)
	}()
	if failed != nil {
		m.overfull = true
	}
	if !m.hasID {
		head, _, _ := bytes.Cut(raw, []byte("\r\n\r\n"))
		sum := sha256.Sum256(head)
		m.id = "no-id-" + hex.EncodeToString(sum[:16])
	}
	return m
}

func (m *mail) parse(raw []byte) {
	entity, err := message.Read(bytes.NewReader(raw))
	if entity == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
		return
	}
	m.header = entity.Header
	m.parseHeader()
	parts := &partReader{mail: m}
	body := parts.read(entity, 0).text
	m.text, m.quoted = body, ""
	if !m.forwards(body) {
		m.text, m.quoted = splitQuoted(body)
	}
}

var idsForm = regexp.MustCompile(`<([^<>\s]+)>`)

// ids returns the message IDs in a header field.
func (m *mail) ids(field string) (ids []string) {
	for _, match := range idsForm.FindAllStringSubmatch(m.header.Get(field), maxIDs) {
		if len(match[1]) <= maxID {
			ids = append(ids, match[1])
		}
	}
	return ids
}

func (m *mail) parseHeader() {
	if ids := m.ids("Message-ID"); len(ids) == 1 {
		m.id, m.hasID = ids[0], true
	}
	m.refers = m.ids("References")
	if ids := m.ids("In-Reply-To"); len(ids) > 0 {
		m.answers = ids[0]
	} else if n := len(m.refers); n > 0 {
		m.answers = m.refers[n-1]
	}
	header := gomail.Header{Header: m.header}
	if authors, err := header.AddressList("From"); err == nil && len(authors) == 1 && m.header.FieldsByKey("From").Len() == 1 {
		if address := normal(authors[0].Address); isAddress(address) {
			m.from, m.name = address, oneLine(authors[0].Name)
		}
	}
	for _, field := range []string{"To", "Cc"} {
		all, _ := header.AddressList(field) // what is malformed has no addresses
		for _, to := range all {
			m.to = append(m.to, normal(to.Address))
		}
	}
	subject, _ := header.Subject() // undecoded if it cannot be decoded
	m.subject = oneLine(subject)
}

// root returns the ID of the mail that began the thread.
func (m *mail) root() string {
	switch {
	case len(m.refers) > 0:
		return m.refers[0]
	case m.answers != "":
		return m.answers
	}
	return m.id
}

// oneLine returns text without line breaks and control characters, cut to a length.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if runes := []rune(text); len(runes) > maxSubject {
		text = string(runes[:maxSubject-1]) + "…"
	}
	return strings.TrimSpace(text)
}

// partReader reads the parts of a mail.
type partReader struct {
	*mail
	parts int
}

// body is the text of a part.
type body struct {
	text  string
	plain bool // it was written as text, not as HTML
}

// read returns the text of a part and of those within it, and collects the files.
func (r *partReader) read(e *message.Entity, depth int) body {
	kind, params, err := e.Header.ContentType()
	if err != nil {
		kind, params = "text/plain", nil
	}
	kind = strings.ToLower(kind)
	if r.parts++; r.parts > maxParts || depth > maxDepth {
		r.overfull = true
		return body{}
	}
	if parts := e.MultipartReader(); parts != nil {
		return r.readAll(parts, kind == "multipart/alternative", depth)
	}
	disposition, named, _ := e.Header.ContentDisposition() // none if it is malformed
	name := named["filename"]
	if name == "" {
		name = params["name"]
	}
	if (kind == "text/plain" || kind == "text/html") && disposition != "attachment" && name == "" {
		return r.readText(e, kind)
	}
	r.addFile(e, kind, name)
	return body{}
}

// readAll reads parts: of alternatives, the one that was written as text.
func (r *partReader) readAll(parts message.MultipartReader, alternative bool, depth int) body {
	var texts []body
	for r.parts <= maxParts {
		part, err := parts.NextPart()
		if part == nil || err != nil && !message.IsUnknownCharset(err) && !message.IsUnknownEncoding(err) {
			break
		}
		if b := r.read(part, depth+1); strings.TrimSpace(b.text) != "" {
			texts = append(texts, b)
		}
	}
	if alternative {
		for _, b := range texts {
			if b.plain {
				return b
			}
		}
		texts = texts[:min(1, len(texts))]
	}
	all := body{plain: true}
	for i, b := range texts {
		if i > 0 {
			all.text += "\n\n"
		}
		all.text, all.plain = all.text+b.text, all.plain && b.plain
	}
	return all
}

func (r *partReader) readText(e *message.Entity, kind string) body {
	content, _ := io.ReadAll(io.LimitReader(e.Body, maxText+1)) // what can be decoded
	if len(content) > maxText {
		content, r.overfull = content[:maxText], true
	}
	text := clean(string(content))
	if kind == "text/html" {
		return body{text: textOf(text)}
	}
	return body{text: text, plain: true}
}

// clean returns text as the rest of the program takes it.
func clean(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r", "\n"), "\x00", "")
}

// addFile adds a part to the files.
func (r *partReader) addFile(e *message.Entity, kind, name string) {
	content, _ := io.ReadAll(e.Body) // what can be decoded; it is shorter than the mail
	name = oneLine(path.Base(strings.ReplaceAll(name, `\`, "/")))
	if name == "" || name == "." || name == "/" {
		name = fmt.Sprintf("file-%d%s", len(r.files)+1, extensions[kind])
	}
	f := domain.File{ID: strconv.Itoa(len(r.files) + 1), Name: name, MIME: kind, Size: int64(len(content))}
	r.files = append(r.files, file{File: f, content: content})
}

// extensions are those of files without a name.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "application/pdf": ".pdf",
	"text/calendar": ".ics", "message/rfc822": ".eml", "text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "application/json": ".json",
}

package email

import (
	"strings"
	"time"

	gomail "github.com/emersion/go-message/mail"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	quotedFile = "quoted" // ID of the file with the earlier mail that is quoted
	quotedName = "quoted.txt"
)

// date returns when the mail says that it was written.
func (m *mail) date() (time.Time, error) { return (&gomail.Header{Header: m.header}).Date() }

// postOf returns a mail as the core takes it.
func (p *platform) postOf(s *stored) *chat.Post {
	origin := chat.Origin{Direct: p.o.Pairing, Inbound: domain.Inbound{
		Scope: s.from, PlatformID: s.id, Chat: s.from, Sender: s.from, SenderName: s.name, SentAt: s.at,
		Text: p.textOf(s.mail), Files: s.describe(p.isOurs(s.answers)),
	}}
	if root := s.root(); root == s.id {
		origin.Opens = root
	} else {
		origin.Thread = root
	}
	return &chat.Post{Origin: origin, Mentioned: p.o.Pairing}
}

// textOf returns what a mail says to the agent. The subject is part of the first mail of a
// thread.
func (p *platform) textOf(m *mail) string {
	if question := p.questionOf(m.answers); question != "" {
		if answer := answerIn(m.text, question); answer != "" {
			return answer
		}
	}
	if command := commandIn(m.text); command != "" {
		return command
	}
	text := strings.TrimSpace(m.text)
	if m.subject != "" && (m.root() == m.id || text == "") {
		text = strings.TrimSpace("Subject: " + m.subject + "\n\n" + text)
	}
	switch {
	case m.partial:
		text += "\n\n[The mail is too large: only its beginning was read.]"
	case m.overfull:
		text += "\n\n[Parts of the mail could not be read.]"
	}
	return text
}

// describe returns the files of a mail. Earlier mail that is quoted is one of them, unless we
// wrote it.
func (m *mail) describe(known bool) (files []domain.File) {
	for _, f := range m.files {
		files = append(files, f.File)
	}
	if m.quoted != "" && !known {
		files = append(files, domain.File{ID: quotedFile, Name: quotedName, MIME: "text/plain", Size: int64(len(m.quoted))})
	}
	for i := range files {
		files[i].URL = m.id
	}
	return files
}

package qq

import (
	"cmp"
	"encoding/json"
	"fmt"
	"mime"
	"path"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// The events that carry messages.
const (
	eventDirect = "C2C_MESSAGE_CREATE"
	eventGroup  = "GROUP_AT_MESSAGE_CREATE"
)

// post is a message as an event has it.
type post struct {
	ID     string `json:"id"`
	Author struct {
		User   string `json:"user_openid"`
		Member string `json:"member_openid"`
		Name   string `json:"username"`
		Bot    bool   `json:"bot"`
	} `json:"author"`
	Group       string       `json:"group_openid"`
	Content     string       `json:"content"`
	Timestamp   string       `json:"timestamp"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	Type     string `json:"content_type"`
	Name     string `json:"filename"`
	Size     int64  `json:"size"`
	URL      string `json:"url"`
	WAV      string `json:"voice_wav_url"`
	Dictated string `json:"asr_refer_text"` // what QQ's speech recognition heard
}

// readEvent returns the delivery of an event; nil if it carries no message.
func readEvent(kind string, data json.RawMessage) (d chat.Delivery, err error) {
	defer chat.RecoverPanic(&err)
	if kind != eventDirect && kind != eventGroup {
		return nil, nil
	}
	var p post
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", chat.ErrMalformed, kind, err)
	}
	where, sender := directChat+p.Author.User, p.Author.User
	if kind == eventGroup {
		where, sender = groupChat+p.Group, p.Author.Member
	}
	if p.ID == "" || sender == "" || strings.HasSuffix(where, "/") || strings.Count(where, "/") > 1 {
		return nil, fmt.Errorf("%w: %s without ID, chat or author", chat.ErrMalformed, kind)
	}
	out := &chat.Post{Mentioned: true}
	out.Direct, out.Bot = kind == eventDirect, p.Author.Bot
	sent, _ := time.Parse(time.RFC3339, p.Timestamp) // else it was sent now
	out.Inbound = domain.Inbound{
		Scope: where, PlatformID: p.ID, Chat: where, Sender: sender, SenderName: p.Author.Name,
		Text: p.text(), SentAt: sent.UTC(), Files: p.files(),
	}
	return out, nil
}

// text returns what was written, and what was said in voice messages.
func (p *post) text() string {
	parts := []string{strings.TrimSpace(p.Content)}
	for _, a := range p.Attachments {
		parts = append(parts, strings.TrimSpace(a.Dictated))
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}

func (p *post) files() []domain.File {
	var files []domain.File
	for i, a := range p.Attachments {
		f := domain.File{ID: fmt.Sprintf("%s/%d", p.ID, i+1), Name: a.Name, MIME: a.Type, Size: a.Size, URL: a.URL, Transcribed: a.Dictated != ""}
		switch {
		case a.Type == "voice" && a.WAV != "":
			f.Name, f.MIME, f.URL, f.Size = fmt.Sprintf("voice-%d.wav", i+1), "audio/wav", a.WAV, 0
		case a.Type == "voice":
			f.MIME = "audio/amr"
		case a.Type == "file":
			f.MIME = mime.TypeByExtension(path.Ext(a.Name))
		}
		if f.URL == "" {
			continue
		}
		if strings.HasPrefix(f.URL, "//") {
			f.URL = "https:" + f.URL
		} else if !strings.Contains(f.URL, "://") {
			f.URL = "https://" + f.URL
		}
		f.Name = cmp.Or(f.Name, fmt.Sprintf("file-%d", i+1))
		files = append(files, f)
	}
	return files
}

package qq

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// A message can be answered five times: by four parts of its reply, and the notice.
const (
	answerParts = 4
	noticeSeq   = answerParts + 1
	// maxSeq bounds msg_seq: larger ones were seen to work by others.
	maxSeq = 1_000_000
)

// What msg_type may be.
const (
	typeText     = 0
	typeMarkdown = 2
	typeMedia    = 7
)

// message is a message as QQ takes it.
type message struct {
	Type     int       `json:"msg_type"`
	Content  string    `json:"content,omitempty"`
	Markdown *markText `json:"markdown,omitempty"`
	Media    *media    `json:"media,omitempty"`
	ReplyTo  string    `json:"msg_id"`
	Seq      int       `json:"msg_seq"`
}

type markText struct {
	Content string `json:"content"`
}

// Post implements [chat.Platform].
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	switch {
	case at.ReplyTo == "":
		return "", undeliverable("qq takes only replies")
	case isReply(at, msg) && msg.Part > answerParts:
		return "", undeliverable("a message can be answered five times")
	}
	m := message{ReplyTo: at.ReplyTo, Seq: seqOf(at, msg)}
	if msg.File != "" {
		uploaded, err := p.upload(ctx, at.Chat, msg)
		if err != nil {
			return "", err
		}
		m.Type, m.Media, m.Content = typeMedia, uploaded, cmp.Or(p.content(msg.Text), " ") // QQ wants some text
		return p.send(ctx, at, m, msg.Key())
	}
	p.setText(&m, p.content(msg.Text))
	id, err := p.send(ctx, at, m, msg.Key())
	if code(err) == codeNoLink || code(err) == codeNoURL {
		p.setText(&m, withoutLinks(p.content(msg.Text)))
		id, err = p.send(ctx, at, m, msg.Key())
	}
	return id, err
}

// setText sets a text as QQ shows it.
func (p *platform) setText(m *message, text string) {
	if p.o.Markdown {
		m.Type, m.Markdown = typeMarkdown, &markText{text}
		return
	}
	m.Type, m.Content = typeText, text
}

// send sends a message, and returns key as the ID of one that QQ recognizes: an earlier
// attempt sent it.
func (p *platform) send(ctx context.Context, at chat.Place, m message, key string) (string, error) {
	var sent struct {
		ID string `json:"id"`
	}
	err := p.call(ctx, http.MethodPost, pathOf(at.Chat, "messages"), at.Chat, m, &sent)
	if code(err) == codeDuplicate {
		return key, nil
	}
	return cmp.Or(sent.ID, key), err
}

// isReply reports whether a message is a part of the reply to the message that it answers.
// Others are questions, what tools send, and replies to earlier messages.
func isReply(at chat.Place, msg chat.Message) bool {
	reply := domain.OutboxID(domain.MessageID(Name, at.Chat, at.ReplyTo))
	return msg.ID == reply || msg.ID == domain.PartID(reply, msg.Part)
}

// seqOf returns the number of a message among those that answer the same one: that of the
// part of a reply. Other messages have numbers derived from their IDs.
func seqOf(at chat.Place, msg chat.Message) int {
	if isReply(at, msg) {
		return msg.Part
	}
	sum := sha256.Sum256([]byte(cmp.Or(msg.ID, msg.Text)))
	return noticeSeq + 1 + int(binary.BigEndian.Uint64(sum[:])%(maxSeq-noticeSeq))
}

// linked matches an address that QQ takes for a link.
var linked = regexp.MustCompile(`(?i)\b(?:https?://)?(?:[a-z0-9-]+\.)+[a-z]{2,}\b`)

// withoutLinks writes addresses so that QQ does not take them for links: with a space
// before the dots.
func withoutLinks(text string) string {
	return linked.ReplaceAllStringFunc(text, func(address string) string {
		if _, host, ok := strings.Cut(address, "://"); ok {
			address = host
		}
		return strings.ReplaceAll(address, ".", " .")
	})
}

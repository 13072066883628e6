package matrix

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// mark is the part of an event's content that is for ourselves.
type mark struct {
	ID    string `json:"id"` // the outbox ID
	Draft bool   `json:"draft,omitempty"`
	Note  string `json:"note,omitempty"` // at the end of the body
}

const (
	formatHTML = "org.matrix.custom.html"
	// fallbackSize bounds what clients that know no edits show of one, in bytes.
	fallbackSize = 200
	notePrefix   = "\n\n— "
)

// Post implements [chat.Platform]. A message that is sent again is the first one, for as
// long as the homeserver remembers its transaction ID.
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	c := render(msg)
	if msg.File != "" {
		var err error
		if c, err = p.upload(ctx, msg); err != nil {
			return "", err
		}
	}
	c.Relates = relationOf(at, msg)
	return p.send(ctx, at.Chat, c, transaction(msg, nil))
}

// Edit implements [chat.Editor]. Homeservers take edits of a message that was removed, and
// nobody sees them: what becomes final is looked at first.
func (p *platform) Edit(ctx context.Context, at chat.Place, id string, msg chat.Message) error {
	if !msg.Draft {
		var was event
		err := p.call(ctx, request{name: "look at a message", path: roomPath(at.Chat, "event", id)}, &was)
		if codeOf(err) == codeNotFound || err == nil && was.Content.Body == "" {
			return fmt.Errorf("%w: it was removed", chat.ErrNoMessage)
		}
		if err != nil {
			return err
		}
	}
	c := render(msg)
	edit := content{
		MsgType: c.MsgType, Body: "* " + text.Cut(c.Body, fallbackSize), Mentions: c.Mentions, Mark: c.Mark,
		Relates: &relation{Kind: relReplace, ID: id}, New: &c,
	}
	_, err := p.send(ctx, at.Chat, edit, transaction(msg, &edit))
	return err
}

// Delete implements [chat.Editor].
func (p *platform) Delete(ctx context.Context, at chat.Place, id string) error {
	sum := sha256.Sum256([]byte(id))
	err := p.write(ctx, request{
		name: "redact", method: http.MethodPut, path: roomPath(at.Chat, "redact", id, "redact-"+hex.EncodeToString(sum[:16])), body: map[string]any{},
	}, nil)
	if codeOf(err) == codeNotFound {
		return nil
	}
	return err
}

// send makes one attempt to send a message, and returns the ID of its event.
func (p *platform) send(ctx context.Context, chat string, c content, transaction string) (string, error) {
	var sent struct {
		ID string `json:"event_id"`
	}
	err := p.write(ctx, request{name: "send", method: http.MethodPut, path: roomPath(chat, "send", typeMessage, transaction), body: c}, &sent)
	return sent.ID, err
}

// write makes a call that writes to a room, unless the homeserver asked to wait.
func (p *platform) write(ctx context.Context, r request, answer any) error {
	err := p.limits.Do(ctx, "send", "", false, func(ctx context.Context) error { return p.call(ctx, r, answer) })
	if code := codeOf(err); code == codeForbidden || code == codeNotFound && r.name == "send" {
		return fmt.Errorf("%w: %w", channels.ErrGone, err)
	}
	return err
}

// Busy implements [chat.Throttled].
func (p *platform) Busy(at chat.Place) bool { return p.limits.Busy("send", at.Chat) }

// transaction returns the ID under which the homeserver takes a message once. An edit of a
// draft has another each time: what it shows may have been shown before.
func transaction(msg chat.Message, edit *content) string {
	if msg.ID == "" || msg.Draft && edit != nil {
		return "holdfast-" + rand.Text()
	}
	id := "holdfast-" + msg.Key()
	if edit != nil {
		body, _ := json.Marshal(edit) // it always can be
		sum := sha256.Sum256(body)
		id += "-" + hex.EncodeToString(sum[:8])
	}
	return id
}

// relationOf returns where a message belongs: to a thread, and to the message that its first
// part answers. In a direct chat that goes without saying.
func relationOf(at chat.Place, msg chat.Message) *relation {
	answered, _, _ := strings.Cut(at.ReplyTo, "-$") // of an edited message
	answers := strings.HasPrefix(answered, "$") && msg.Part <= 1 && !IsDirect(at.Chat)
	switch {
	case at.Thread != "" && answers:
		return &relation{Kind: relThread, ID: at.Thread, Reply: &replyTo{answered}}
	case at.Thread != "":
		return &relation{Kind: relThread, ID: at.Thread, FallingBack: true, Reply: &replyTo{at.Thread}}
	case answers:
		return &relation{Reply: &replyTo{answered}}
	}
	return nil
}

// render returns a message as its body in Markdown, and in HTML. It mentions nobody.
func render(msg chat.Message) content {
	c := content{MsgType: "m.text", Body: strings.TrimSpace(msg.Text), Format: formatHTML, Mentions: &mentions{}}
	c.Formatted = markdown.HTML(c.Body)
	if msg.Note != "" {
		c.Body = strings.TrimSpace(c.Body + notePrefix + msg.Note)
		c.Formatted += "<p><em>" + escape(msg.Note) + "</em></p>"
	}
	if c.Body == "" {
		c.Body, c.Formatted = "…", "…"
	}
	if msg.ID != "" {
		c.Mark = &mark{ID: msg.ID, Draft: msg.Draft, Note: msg.Note}
	}
	return c
}

var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace

// written returns the body of a message of ours without its note.
func (c *content) written() string {
	if c.Mark == nil || c.Mark.Note == "" {
		return c.Body
	}
	return strings.TrimSpace(strings.TrimSuffix(c.Body, strings.TrimSpace(notePrefix)+" "+c.Mark.Note))
}

// sizeOf is how much of an event a text takes up.
func sizeOf(text string) int { return jsonSize(text) + jsonSize(markdown.HTML(text)) }

// jsonSize is the size of a string in the JSON that homeservers count.
func jsonSize(s string) int {
	size := len(s)
	for i := range len(s) {
		switch {
		case s[i] == '"', s[i] == '\\', s[i] == '\n', s[i] == '\t', s[i] == '\r':
			size++
		case s[i] < ' ':
			size += len(`\u0000`) - 1
		}
	}
	return size
}

// gone reports whether an error is a refusal that no other attempt changes.
func gone(err error) bool {
	failed := remote.As(err)
	return failed != nil && failed.Permanent()
}

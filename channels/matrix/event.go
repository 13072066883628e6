package matrix

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// The types of events that are read.
const (
	typeMessage    = "m.room.message"
	typeSticker    = "m.sticker"
	typeEncrypted  = "m.room.encrypted"
	typeRedaction  = "m.room.redaction"
	typeMember     = "m.room.member"
	typeEncryption = "m.room.encryption"
)

// The relations between events.
const (
	relReplace = "m.replace"
	relThread  = "m.thread"
)

// quoteLimit bounds what is quoted of the message that one replies to, in characters.
const quoteLimit = 2000

// event is what happened in a room, as far as it is read.
type event struct {
	ID       string  `json:"event_id"`
	Type     string  `json:"type"`
	Sender   string  `json:"sender"`
	StateKey string  `json:"state_key"`
	SentAt   int64   `json:"origin_server_ts"` // ms
	Redacts  string  `json:"redacts"`          // of a redaction; in Content since room version 11
	Content  content `json:"content"`
	Unsigned struct {
		Before struct {
			Membership string `json:"membership"`
		} `json:"prev_content"`
		Relations struct {
			Edit struct {
				Content content `json:"content"`
			} `json:"m.replace"` // the latest one
		} `json:"m.relations"`
	} `json:"unsigned"`
}

// content is the content of an event, and of the version that an edit makes of it.
type content struct {
	MsgType   string `json:"msgtype,omitempty"`
	Body      string `json:"body,omitempty"`
	Format    string `json:"format,omitempty"`
	Formatted string `json:"formatted_body,omitempty"`
	FileName  string `json:"filename,omitempty"`
	URL       string `json:"url,omitempty"` // of a file: mxc://…
	Info      *info  `json:"info,omitempty"`

	Mentions *mentions `json:"m.mentions,omitempty"`
	Relates  *relation `json:"m.relates_to,omitempty"`
	New      *content  `json:"m.new_content,omitempty"`
	Mark     *mark     `json:"ai.holdfast.message,omitempty"`

	Membership string `json:"membership,omitempty"`
	Direct     bool   `json:"is_direct,omitempty"`
	Redacts    string `json:"redacts,omitempty"`
	Location   string `json:"geo_uri,omitempty"`
}

// info describes a file.
type info struct {
	MIME string `json:"mimetype,omitempty"`
	Size int64  `json:"size,omitempty"`
}

type mentions struct {
	Users []string `json:"user_ids,omitempty"`
}

type relation struct {
	Kind        string   `json:"rel_type,omitempty"`
	ID          string   `json:"event_id,omitempty"`
	FallingBack bool     `json:"is_falling_back,omitempty"` // the reply is only for clients without threads
	Reply       *replyTo `json:"m.in_reply_to,omitempty"`
}

type replyTo struct {
	ID string `json:"event_id"`
}

// related returns the ID of the event to which an event has a relation; empty: it has none.
func (c *content) related(kind string) string {
	if c.Relates == nil || c.Relates.Kind != kind {
		return ""
	}
	return c.Relates.ID
}

// answers returns the ID of the message that a message replies to; empty: none.
func (c *content) answers() string {
	if c.Relates == nil || c.Relates.Reply == nil || c.Relates.FallingBack {
		return ""
	}
	return c.Relates.Reply.ID
}

func (e *event) joins() bool { return e.Type == typeMember && e.Content.Membership == "join" }

// sentAt is when an event was sent, as its sender's homeserver says; not in the future.
func (e *event) sentAt() time.Time {
	now := time.Now()
	if at := time.UnixMilli(e.SentAt); e.SentAt > 0 && at.Before(now) {
		return at
	}
	return now
}

// parse reads events. What cannot be read is logged and left out: no other answer would
// have it in another form.
func (p *platform) parse(room string, raw []json.RawMessage) (all []*event) {
	for _, data := range raw {
		var e event
		if err := json.Unmarshal(data, &e); err != nil {
			p.o.Logger.Error("event not understood", "room", room, "bytes", len(data), "err", err)
			continue
		}
		all = append(all, &e)
	}
	return all
}

// delivery returns an event for the core; nil if it is none of its business.
func (r *receiver) delivery(ctx context.Context, id string, e *event) (chat.Delivery, error) {
	switch {
	case e.ID == "" || e.Sender == "":
		return nil, nil
	case e.Sender == r.self.ID:
		return nil, r.remember(ctx, id, e)
	}
	switch replaced, redacted := e.Content.related(relReplace), cmp.Or(e.Redacts, e.Content.Redacts); {
	case e.Type == typeEncrypted:
		r.warnSealed(id)
	case e.Type == typeRedaction && redacted != "":
		return r.change(ctx, id, e, redacted)
	case e.Type == typeMessage && replaced != "":
		return r.change(ctx, id, e, replaced)
	case e.Type == typeMessage, e.Type == typeSticker:
		return r.post(ctx, id, e)
	}
	return nil, nil
}

// remember remembers what we say, for those who reply to it.
func (r *receiver) remember(ctx context.Context, id string, e *event) error {
	replaced := e.Content.related(relReplace)
	switch {
	case e.Type != typeMessage:
	case replaced == "":
		r.events.Put(id+" "+e.ID, newOrigin(e))
	case e.Content.New != nil:
		was, err := r.events.Get(ctx, id+" "+replaced)
		if err != nil {
			return err
		}
		was.text = e.Content.New.quotable()
		r.events.Put(id+" "+replaced, was)
	}
	return nil
}

// warnSealed tells the operator of a room that is encrypted.
func (r *receiver) warnSealed(id string) {
	r.mu.Lock()
	told := r.sealed[id]
	r.sealed[id] = true
	r.mu.Unlock()
	if !told {
		r.o.Logger.Warn("a room is encrypted, nothing in it can be read: invite the bot to one without encryption", "room", id)
	}
}

// place returns a delivery's origin, without its text.
func (r *receiver) place(ctx context.Context, id string, e *event) (chat.Origin, error) {
	room, err := r.rooms.Get(ctx, id)
	if err != nil {
		return chat.Origin{}, err
	}
	o := chat.Origin{Direct: room.direct, Bot: e.Content.MsgType == "m.notice", Inbound: domain.Inbound{
		Scope: id, PlatformID: e.ID, Chat: id, Sender: e.Sender, SentAt: e.sentAt(),
	}}
	if o.Direct {
		o.Chat = directMark + id
	}
	return o, nil
}

// post returns a message.
func (r *receiver) post(ctx context.Context, id string, e *event) (chat.Delivery, error) {
	o, err := r.place(ctx, id, e)
	if err != nil {
		return nil, err
	}
	c := &e.Content
	p := &chat.Post{Origin: o, Mentioned: r.self.mentioned(c)}
	p.Thread = c.related(relThread)
	p.Text, p.Files = c.text(), c.files(e.ID)
	r.events.Put(id+" "+e.ID, newOrigin(e))
	if answered := c.answers(); answered != "" && p.Text+c.URL != "" {
		said, err := r.events.Get(ctx, id+" "+answered)
		if err != nil {
			return nil, err
		}
		p.Mentioned = p.Mentioned || said.sender == r.self.ID
		p.Text = said.quoted() + r.self.withoutMention(p.Text, p.Mentioned)
		return p, nil
	}
	if p.Thread != "" && !p.Mentioned && !p.Direct && r.o.Respond == chat.RespondThread {
		began, err := r.events.Get(ctx, id+" "+p.Thread)
		if err != nil {
			return nil, err
		}
		p.Replies = began.sender == r.self.ID
	}
	p.Text = asCommand(r.self.withoutMention(p.Text, p.Mentioned))
	return p, nil
}

// change returns an edit of a message, or its removal; nil if it is not its author's.
func (r *receiver) change(ctx context.Context, id string, e *event, of string) (chat.Delivery, error) {
	o, err := r.place(ctx, id, e)
	if err != nil {
		return nil, err
	}
	was, err := r.events.Get(ctx, id+" "+of)
	if err != nil {
		return nil, err
	}
	c := &chat.Change{Origin: o, Version: e.ID, Deleted: e.Type == typeRedaction}
	c.PlatformID, c.Thread = of, was.thread
	switch {
	case c.Deleted:
		c.Sender = was.sender // moderators may remove a message, too
	case e.Sender != was.sender || e.Content.New == nil:
		return nil, nil
	default:
		c.Text, c.Files = asCommand(r.self.withoutMention(e.Content.New.text(), true)), e.Content.New.files(e.ID)
		was.text = e.Content.New.quotable()
		r.events.Put(id+" "+of, was)
	}
	return c, nil
}

// origin is what is remembered of a message for those that refer to it.
type origin struct{ thread, sender, text string }

// originLasts is how long.
const originLasts = day

func newOrigin(e *event) origin {
	said := &e.Content
	if edited := e.Unsigned.Relations.Edit.Content.New; edited != nil {
		said = edited
	}
	return origin{e.Content.related(relThread), e.Sender, said.quotable()}
}

// quotable returns what is quoted of a message.
func (c *content) quotable() string {
	if c.Mark != nil {
		return text.CutRunes(c.written(), quoteLimit)
	}
	return text.CutRunes(c.text(), quoteLimit)
}

// lookForOrigin reads a message by "room event". What cannot be read is unknown.
func (p *platform) lookForOrigin(ctx context.Context, key string) (origin, error) {
	room, id, _ := strings.Cut(key, " ")
	var e event
	err := p.call(ctx, request{name: "read an event", path: roomPath(room, "event", id)}, &e)
	if gone(err) {
		return origin{}, nil
	}
	return newOrigin(&e), err
}

// quoted returns a message for the one that replies to it.
func (o origin) quoted() string {
	if o.text == "" {
		return ""
	}
	return text.Quote(o.text) + "\n\n"
}

// oldQuote matches what clients used to put before a reply.
var oldQuote = regexp.MustCompile(`^(> .*\n)+\n`)

// text returns what a message says.
func (c *content) text() string {
	said := c.Body
	switch c.MsgType {
	case "m.emote":
		said = "* " + said
	case "m.location":
		said = strings.TrimSpace(said + "\n" + c.Location)
	case "m.image", "m.file", "m.audio", "m.video":
		if c.FileName == "" || c.FileName == c.Body {
			return ""
		}
	}
	if c.answers() != "" {
		said = oldQuote.ReplaceAllString(said, "")
	}
	return clean(said)
}

// files returns the file of a message.
func (c *content) files(id string) []domain.File {
	if !strings.HasPrefix(c.URL, "mxc://") {
		return nil
	}
	f := domain.File{ID: id, URL: c.URL, Name: cmp.Or(c.FileName, c.Body, "file")}
	if c.Info != nil {
		f.MIME, f.Size = c.Info.MIME, c.Info.Size
	}
	return []domain.File{f}
}

// mentioned reports whether a message mentions us, as it says or, by an older client, as it
// reads.
func (a account) mentioned(c *content) bool {
	if c.Mentions != nil {
		return slices.Contains(c.Mentions.Users, a.ID)
	}
	link, _ := url.PathUnescape(c.Formatted)
	return strings.Contains(link, "https://matrix.to/#/"+a.ID) || strings.Contains(c.Body, a.ID) ||
		a.Name != "" && strings.HasPrefix(strings.ToLower(c.Body), strings.ToLower(a.Name)+":")
}

// withoutMention removes our name from the beginning of a text that mentions us.
func (a account) withoutMention(said string, mentioned bool) string {
	local, _, _ := strings.Cut(strings.TrimPrefix(a.ID, "@"), ":")
	for _, name := range []string{a.ID, a.Name, local} {
		rest := strings.TrimPrefix(said, "@")
		if name = strings.TrimPrefix(name, "@"); !mentioned || name == "" || len(rest) < len(name) || !strings.EqualFold(rest[:len(name)], name) {
			continue
		}
		if rest = rest[len(name):]; rest == "" || strings.ContainsAny(rest[:1], " \n,:") {
			return strings.TrimSpace(strings.TrimLeft(rest, " ,:"))
		}
	}
	return said
}

// asCommand returns a command as the core knows it.
func asCommand(said string) string {
	rest, is := strings.CutPrefix(said, commandPrefix)
	if command, _ := domain.ParseCommand("/" + rest); is && command != domain.CommandNone {
		return "/" + rest
	}
	return said
}

// clean drops control characters except line breaks and tabs, and blank margins.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}

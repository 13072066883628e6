package mattermost

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// isID matches Mattermost's IDs.
var isID = regexp.MustCompile(`^[a-z0-9]{26}$`)

// readPost decodes a post.
func readPost(data []byte) (*post, error) {
	p := &post{}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("%w: %w", chat.ErrMalformed, err)
	}
	valid := isID.MatchString(p.ID) && isID.MatchString(p.ChannelID) && isID.MatchString(p.UserID) && (p.RootID == "" || isID.MatchString(p.RootID))
	if !valid || p.CreateAt <= 0 {
		return nil, fmt.Errorf("%w: a post without ID, channel, author or time", chat.ErrMalformed)
	}
	return p, nil
}

// writtenTypes are the types of posts that somebody wrote. The others report that something
// happened.
var writtenTypes = []string{"", "me", "slack_attachment"}

// message returns a post as the core takes it. The same post always gives the same one.
func (p *platform) message(ctx context.Context, in *post, where channel) (*chat.Post, error) {
	self, err := p.identify(ctx)
	if err != nil {
		return nil, err
	}
	d := &chat.Post{Own: in.UserID == self.ID}
	d.Inbound = domain.Inbound{PlatformID: in.ID, Chat: where.chat(), Thread: in.RootID, Sender: in.UserID, SentAt: timeOf(in.CreateAt)}
	d.Direct, d.Bot = where.Type == typeDirect, in.isBot()
	if !d.Direct && d.Thread == "" {
		d.Opens = in.ID
	}
	if !slices.Contains(writtenTypes, in.Type) {
		return d, nil
	}
	d.Text, d.Mentioned = in.said(self.Username)
	d.Files = in.files()
	if d.Text == "" && len(d.Files) == 0 && d.Mentioned {
		d.Text = "@" + self.Username // asks us to look at what was said before
	}
	if p.mayReply(d) {
		d.Replies, err = p.roots.Get(ctx, d.Thread)
	}
	return d, err
}

// mayReply reports whether a message might be answered because we began its thread.
func (p *platform) mayReply(d *chat.Post) bool {
	allowed := slices.Contains(p.o.Chats, d.Chat) || slices.Contains(p.o.Chats, channels.Anyone)
	return p.o.Respond == chat.RespondThread && allowed && d.Thread != "" && !d.Direct && !d.Mentioned && !d.Own && !d.Bot
}

// isOurs reports whether we wrote a post.
func (p *platform) isOurs(ctx context.Context, id string) (bool, error) {
	self, err := p.identify(ctx)
	if err != nil {
		return false, err
	}
	var root post
	err = p.call(ctx, http.MethodGet, "/posts/"+id, nil, &root)
	if isMissing(err) {
		return false, nil
	}
	return root.UserID == self.ID, err
}

// isBot reports whether a program wrote the post: people's webhooks write under their IDs.
func (p *post) isBot() bool {
	for _, mark := range []string{"from_bot", "from_webhook", "from_plugin"} {
		if fmt.Sprint(p.Props[mark]) == "true" {
			return true
		}
	}
	return false
}

// name matches a mention. A name may be followed by a character that names can contain.
var name = regexp.MustCompile(`(^|[^\pL\pN_])@([\w.-]+)`)

// said returns what a post says, without a leading mention of us, and whether it mentions us.
func (p *post) said(self string) (said string, mentioned bool) {
	said = strings.TrimSpace(strings.Map(printable, p.Message))
	if said == "" {
		return p.attached(), false
	}
	markdown.Rewrite(said, false, func(prose string) string {
		for _, found := range name.FindAllStringSubmatch(prose, -1) {
			mentioned = mentioned || isName(found[2], self)
		}
		return prose
	}, func(code string) string { return code })
	if found := name.FindStringSubmatchIndex(said); mentioned && found != nil && found[0] == 0 && isName(said[found[4]:found[5]], self) {
		said = strings.TrimLeft(said[found[4]+len(self):], " ,:\n\t")
	}
	return said, mentioned
}

// printable drops control characters except line breaks and tabs.
func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

func isName(written, self string) bool {
	return self != "" && strings.EqualFold(strings.TrimRight(written, ".-_"), strings.TrimRight(self, ".-_"))
}

// attached returns the text of a post's attachments, as programs write them.
func (p *post) attached() string {
	all, _ := p.Props["attachments"].([]any)
	var texts []string
	for _, a := range all {
		fields, _ := a.(map[string]any)
		for _, field := range []string{"pretext", "title", "text"} {
			if said, _ := fields[field].(string); said != "" {
				texts = append(texts, said)
			}
		}
	}
	return strings.Join(texts, "\n")
}

func (p *post) files() []domain.File {
	var files []domain.File
	for _, id := range p.FileIDs {
		f := domain.File{ID: id, Name: id}
		for _, known := range p.Metadata.Files {
			if known.ID == id {
				f.Name, f.MIME, f.Size = cmp.Or(known.Name, id), known.MIME, known.Size
			}
		}
		files = append(files, f)
	}
	return files
}

// changeOf returns an edit or the removal of a message.
func changeOf(p *post, message *chat.Post, deleted bool) *chat.Change {
	c := &chat.Change{Origin: message.Origin, Version: strconv.FormatInt(p.EditAt, 10), Deleted: deleted}
	if deleted {
		c.Version = "deleted"
	}
	return c
}

// senderName returns the name that an event has.
func senderName(announced string) string { return strings.TrimPrefix(announced, "@") }

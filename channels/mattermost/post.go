package mattermost

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/chat/markdown"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// Post implements [chat.Platform]. The server recognizes a repeated key for half a minute, as
// long as it runs. Because of that a message is always looked for before it is posted again.
func (p *platform) Post(ctx context.Context, at chat.Place, msg chat.Message) (string, error) {
	arguments := map[string]any{"channel_id": channelOf(at.Chat), "root_id": at.Thread, "message": p.content(ctx, msg), "props": p.props(at, msg)}
	if msg.ID != "" {
		arguments["pending_post_id"] = msg.Key()
	}
	if msg.File != "" {
		id, err := p.upload(ctx, at, msg)
		if err != nil {
			return "", unwritable(err)
		}
		arguments["file_ids"] = []string{id}
	}
	var posted post
	err := p.call(ctx, http.MethodPost, "/posts", arguments, &posted)
	return posted.ID, unwritable(err)
}

// Edit implements [chat.Editor]. Servers can forbid edits after some time.
func (p *platform) Edit(ctx context.Context, at chat.Place, id string, msg chat.Message) error {
	err := p.call(ctx, http.MethodPut, "/posts/"+id+"/patch", map[string]any{"message": p.content(ctx, msg), "props": p.props(at, msg)}, nil)
	if isAbsent(err) || says(err, "permissions_time_limit", "can_not_update_post_in_deleted") {
		err = fmt.Errorf("%w: %w", chat.ErrNoMessage, err)
	}
	return err
}

// Delete implements [chat.Editor].
func (p *platform) Delete(ctx context.Context, _ chat.Place, id string) error {
	err := p.call(ctx, http.MethodDelete, "/posts/"+id, nil, nil)
	if isAbsent(err) {
		return nil
	}
	return err
}

// isAbsent reports whether a call failed because its post does not exist, for which the server
// also says that we may not change it.
func isAbsent(err error) bool {
	failed := remote.As(err)
	return failed != nil && (failed.Status == http.StatusNotFound || failed.Status == http.StatusForbidden)
}

// Busy implements [chat.Throttled].
func (p *platform) Busy(chat.Place) bool { return p.limits.Busy(limitedMethod, "") }

// props returns the properties of a post.
func (p *platform) props(at chat.Place, msg chat.Message) map[string]any {
	props := map[string]any{}
	if msg.ID != "" {
		props[propID] = msg.ID
	}
	if msg.Draft {
		props[propDraft] = true
		props[propWritten] = msg.Text != ""
	}
	if p.hook != nil && len(msg.Buttons) > 0 {
		props["attachments"] = []any{map[string]any{"actions": p.actions(at, msg.Buttons)}}
	}
	return props
}

const (
	noteLimit = 300 // characters of a note
	// noteMark separates a note from the text above it.
	noteMark = "\n\n" + blank
	blank    = "\u200b" // a space without width
)

// content returns the text of a post.
func (p *platform) content(ctx context.Context, msg chat.Message) string {
	said, note := quiet(msg.Text), ""
	if p.hook == nil && msg.Approval != "" && len(msg.Buttons) > 0 {
		said += fmt.Sprintf("\n\nAnswer `approve %[1]s` or `deny %[1]s`. In a channel, mention me before that.", msg.Approval)
	}
	if msg.Note != "" {
		note = noteMark + "*" + p.Escape(text.CutRunes(text.Line(msg.Note), noteLimit)) + "*"
	}
	if said == "" {
		return strings.TrimPrefix(note, noteMark)
	}
	if chat.Runes(said+note) <= fewestRunes {
		return said + note
	}
	if limit := p.limit(ctx) - chat.Runes(note); chat.Runes(said) > limit {
		said = markdown.Split(said, limit-1)[0] + "…"
	}
	return said + note
}

var special = regexp.MustCompile("[\\\\`*_~|<>#\\[\\]()!:+-]")

// Escape implements [chat.Markup].
func (*platform) Escape(s string) string { return hush(special.ReplaceAllString(s, `\$0`), "@"+blank) }

// Mention implements [chat.Markup], by a name that notifies nobody.
func (*platform) Mention(person string) string { return "`" + person + "`" }

var link = regexp.MustCompile(`(?i)\b(?:[a-z][a-z0-9+.-]*://|mailto:|www\.)[^\s<>]*`)

// quiet returns Markdown that notifies nobody: the server notifies those whom a text mentions,
// and everybody for @all, @channel and @here. Code mentions nobody.
func quiet(said string) string {
	return markdown.Rewrite(said, false, func(prose string) string {
		var b strings.Builder
		done := 0
		for _, at := range link.FindAllStringIndex(prose, -1) {
			b.WriteString(hush(prose[done:at[0]], "@"+blank))
			b.WriteString(hush(prose[at[0]:at[1]], "%40"))
			done = at[1]
		}
		b.WriteString(hush(prose[done:], "@"+blank))
		return b.String()
	}, func(code string) string { return code })
}

// hush replaces each @ that may begin a mention: one that does not follow a letter or digit,
// and that something follows.
func hush(s, with string) string {
	var b strings.Builder
	before := ' '
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+1:])
		if r == '@' && !unicode.IsLetter(before) && !unicode.IsDigit(before) && i+1 < len(s) && !unicode.IsSpace(after) && after != '\u200b' {
			b.WriteString(with)
		} else {
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

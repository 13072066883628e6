package feishu

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// mention is a person or bot that a text refers to by a key.
type mention struct {
	Key  string `json:"key"` // such as @_user_1
	Name string `json:"name"`
	ID   idOf   `json:"id"`
}

// idOf is the ID of somebody mentioned: an object in events, the open ID in history.
type idOf struct{ OpenID string }

// UnmarshalJSON implements json.Unmarshaler.
func (i *idOf) UnmarshalJSON(b []byte) error {
	var all struct {
		OpenID string `json:"open_id"`
	}
	if json.Unmarshal(b, &all) == nil {
		i.OpenID = all.OpenID
		return nil
	}
	return json.Unmarshal(b, &i.OpenID)
}

// content is what a message says.
type content struct {
	text      string
	files     []domain.File
	mentioned bool // it mentions us
}

// contentJSON has the fields of all kinds of messages.
type contentJSON struct {
	Text     string   `json:"text"`
	Title    string   `json:"title"`
	Content  [][]span `json:"content"`
	ImageKey string   `json:"image_key"`
	FileKey  string   `json:"file_key"`
	FileName string   `json:"file_name"`
	ChatID   string   `json:"chat_id"`
	UserID   string   `json:"user_id"`
	Name     string   `json:"name"`
	Card     string   `json:"user_dsl"`
}

// span is a part of a line of rich text.
type span struct {
	Tag      string `json:"tag"`
	Text     string `json:"text"`
	Href     string `json:"href"`
	UserID   string `json:"user_id"` // the key of a mention
	UserName string `json:"user_name"`
	ImageKey string `json:"image_key"`
	FileKey  string `json:"file_key"`
	FileName string `json:"file_name"`
	Language string `json:"language"`
	Emoji    string `json:"emoji_type"`
}

// readContent reads the content of a message of some kind. What cannot be read becomes a
// text that says what it is.
func readContent(message, kind, raw string, mentions []mention, self string) content {
	var c content
	var from contentJSON
	if json.Unmarshal([]byte(raw), &from) != nil {
		from = contentJSON{}
	}
	switch kind {
	case "text":
		c.text = from.Text
	case "post":
		c.rich(message, from)
	case "interactive":
		c.text = cardText(from, raw)
	case "image":
		c.attach(message, "image", from.ImageKey, "image.png", "image/png")
	case "file":
		c.attach(message, "file", from.FileKey, cmp.Or(from.FileName, "file"), "")
	case "audio":
		c.attach(message, "file", from.FileKey, "voice message.opus", "audio/ogg")
	case "media":
		c.attach(message, "file", from.FileKey, cmp.Or(from.FileName, "video.mp4"), "video/mp4")
	case "share_chat":
		c.text = "[shared the group " + from.ChatID + "]"
	case "share_user":
		c.text = "[shared the contact " + from.UserID + "]"
	case "location":
		c.text = "[location: " + from.Name + "]"
	default: // sticker, system, merge_forward, todo, vote, calendar, …
		c.text = "[" + strings.ReplaceAll(cmp.Or(kind, "message"), "_", " ") + "]"
	}
	c.resolve(mentions, self)
	return c
}

// attach adds a file. Its URL is the path at which the API serves it.
func (c *content) attach(message, kind, key, name, mime string) {
	if key == "" {
		return
	}
	c.files = append(c.files, domain.File{
		ID: key, Name: name, MIME: mime,
		URL: "/open-apis/im/v1/messages/" + url.PathEscape(message) + "/resources/" + url.PathEscape(key) + "?type=" + kind,
	})
}

// rich reads rich text.
func (c *content) rich(message string, from contentJSON) {
	var lines []string
	if from.Title != "" {
		lines = append(lines, "**"+from.Title+"**")
	}
	for _, spans := range from.Content {
		var line strings.Builder
		for _, s := range spans {
			switch s.Tag {
			case "a":
				fmt.Fprintf(&line, "[%s](%s)", cmp.Or(s.Text, s.Href), s.Href)
			case "at":
				line.WriteString(cmp.Or(s.UserID, "@"+s.UserName))
			case "img":
				c.attach(message, "image", s.ImageKey, fmt.Sprintf("image-%d.png", len(c.files)+1), "image/png")
			case "media":
				c.attach(message, "file", s.FileKey, cmp.Or(s.FileName, fmt.Sprintf("video-%d.mp4", len(c.files)+1)), "")
			case "code_block":
				fmt.Fprintf(&line, "```%s\n%s\n```", strings.ToLower(s.Language), strings.TrimRight(s.Text, "\n"))
			case "emotion":
				line.WriteString("[" + s.Emoji + "]")
			case "hr":
				line.WriteString("---")
			default:
				line.WriteString(s.Text)
			}
		}
		lines = append(lines, line.String())
	}
	c.text = strings.Join(lines, "\n")
}

// resolve replaces the keys of mentions by names, drops a leading mention of ourselves, and
// removes control characters.
func (c *content) resolve(mentions []mention, self string) {
	text := strings.TrimSpace(strings.Map(printable, c.text))
	// Longer keys come first: @_user_1 is the beginning of @_user_10.
	mentions = slices.SortedStableFunc(slices.Values(mentions), func(a, b mention) int { return len(b.Key) - len(a.Key) })
	names := []string{"@_all", "@all"}
	for _, m := range mentions {
		if m.Key == "" {
			continue
		}
		if m.ID.OpenID == self && self != "" {
			c.mentioned = true
			if rest, leads := strings.CutPrefix(text, m.Key); leads && (rest == "" || rest[0] < '0' || rest[0] > '9') {
				text = strings.TrimSpace(rest)
			}
		}
		names = append(names, m.Key, "@"+m.Name)
	}
	c.text = strings.NewReplacer(names...).Replace(text)
}

func printable(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}

// maxDepth bounds how deep cards are read.
const maxDepth = 20

// cardText returns the texts of a card, one to a line.
func cardText(from contentJSON, raw string) string {
	var card any
	if json.Unmarshal([]byte(cmp.Or(from.Card, raw)), &card) != nil {
		return "[card]"
	}
	var texts []string
	collect(card, &texts, 0)
	return cmp.Or(strings.Join(texts, "\n"), "[card]")
}

// collect adds the texts in a part of a card: those of elements, in their order.
func collect(part any, texts *[]string, depth int) {
	if depth > maxDepth {
		return
	}
	switch part := part.(type) {
	case []any:
		for _, p := range part {
			collect(p, texts, depth+1)
		}
	case map[string]any:
		if part["tag"] == "button" {
			return
		}
		for _, key := range []string{"title", "content", "text", "header", "body", "elements", "columns", "fields", "actions"} {
			switch v := part[key].(type) {
			case nil:
			case string:
				if v = strings.TrimSpace(v); v != "" {
					*texts = append(*texts, v)
				}
			default:
				collect(v, texts, depth+1)
			}
		}
	}
}

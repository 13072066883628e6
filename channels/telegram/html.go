package telegram

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

// content returns what a message shows, as HTML and without markup. A text that is too long
// is cut: a draft at its beginning, since it grows, others at their end. Long replies were
// split before.
func content(msg chat.Message) (formatted, plain string) {
	note := strings.TrimSpace(msg.Note)
	formatted = render(msg.Text)
	plain = plainOf(formatted)
	if strings.TrimSpace(plain+note) == "" { // such as the address of a link that is not there
		plain = cmp.Or(strings.TrimSpace(msg.Text), "…")
		formatted = escape(plain)
	}
	if note == "" && chat.UTF16(plain) <= textLimit {
		return formatted, plain
	}
	below := "\n\n" + note
	if room := textLimit - chat.UTF16(below); chat.UTF16(plain) > room {
		plain = cut(plain, room, msg.Draft)
		formatted = escape(plain)
	}
	if note == "" {
		return formatted, plain
	}
	return strings.TrimSpace(formatted + "\n\n<i>" + escape(note) + "</i>"), strings.TrimSpace(plain + below)
}

// cut cuts a text to some UTF-16 units, at its beginning or its end.
func cut(s string, units int, atBeginning bool) string {
	if !atBeginning {
		return cutUnits(s, units)
	}
	runes := []rune(s)
	room := units - 1
	for i, rune := range slices.Backward(runes) {
		if room -= chat.UTF16(string(rune)); room < 0 {
			return "…" + string(runes[i+1:])
		}
	}
	return s
}

// cutUnits cuts a text at its end.
func cutUnits(s string, units int) string {
	if chat.UTF16(s) <= units {
		return s
	}
	room := units - 1
	for i, r := range s {
		if room -= chat.UTF16(string(r)); room < 0 {
			return s[:i] + "…"
		}
	}
	return s
}

// width is how much of Telegram's limit a text takes up.
func width(markdown string) int { return chat.UTF16(plainOf(render(markdown))) }

var tag = regexp.MustCompile(`<[^>]*>`)

// plainOf returns the text of rendered HTML, in which nothing but tags has angle brackets.
func plainOf(rendered string) string { return html.UnescapeString(tag.ReplaceAllString(rendered, "")) }

// escape escapes a text for Telegram's HTML, which knows four entities only.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace

// render converts Markdown to Telegram's HTML.
func render(markdown string) string { return md.Render(markdown, style) }

var style = md.Style{
	Text: escape, Bold: within("b"), Italic: within("i"), Strike: within("s"), Block: preformatted, Quote: quotation, Link: link, Indent: "    ",
	Code: func(text string) string { return within("code")(escape(text)) },
}

// within returns a style that puts a text into an element, unless it is blank.
func within(element string) func(string) string {
	return func(styled string) string {
		if strings.TrimSpace(styled) == "" {
			return styled
		}
		return "<" + element + ">" + styled + "</" + element + ">"
	}
}

func preformatted(code, language string) string {
	code = escape(code)
	if language != "" && strings.TrimSpace(code) != "" {
		code = `<code class="language-` + escape(language) + `">` + code + "</code>"
	}
	return within("pre")(code)
}

// quotation puts a text into a quotation. Telegram knows none within another.
func quotation(styled string) string {
	return within("blockquote")(strings.NewReplacer("<blockquote>", "", "</blockquote>", "").Replace(styled))
}

// linkable are the addresses that Telegram links to. It drops others without a word.
var linkable = regexp.MustCompile(`^(?i:https?://|tg://|mailto:|tel:)`)

// link returns a link with a label in HTML.
func link(label, to string) string {
	switch {
	case label == "":
		label = escape(to)
	case !linkable.MatchString(to) && to != "" && escape(to) != label:
		return label + " (" + escape(to) + ")"
	}
	if !linkable.MatchString(to) {
		return label
	}
	return `<a href="` + escape(to) + `">` + label + "</a>"
}

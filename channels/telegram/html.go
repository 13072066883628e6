package telegram

import (
	"cmp"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

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
func render(markdown string) string {
	if md.TooLong(markdown) {
		return escape(markdown)
	}
	source := []byte(markdown)
	w := writer{source: source}
	return strings.Join(w.blocks(md.Parse(source), true), "\n")
}

// writer writes parsed Markdown as Telegram's HTML.
type writer struct {
	source []byte
	quoted bool // in a quotation: Telegram knows none within another
}

// blocks returns the lines of a node's children, with a blank line between them if loose.
func (w writer) blocks(parent ast.Node, loose bool) []string {
	var lines []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		block := w.block(n)
		if loose && len(lines) > 0 && len(block) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

func (w writer) block(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return within("b", "", w.inline(n))
	case *ast.FencedCodeBlock:
		return preformatted(string(n.Lines().Value(w.source)), string(n.Language(w.source)))
	case *ast.CodeBlock:
		return preformatted(string(n.Lines().Value(w.source)), "")
	case *ast.HTMLBlock:
		return strings.Split(escape(strings.TrimRight(string(n.Lines().Value(w.source)), "\n")), "\n")
	case *ast.Blockquote:
		if w.quoted {
			return w.blocks(n, true)
		}
		w.quoted = true
		return within("blockquote", "", strings.Join(w.blocks(n, true), "\n"))
	case *ast.List:
		return w.list(n)
	case *ast.ThematicBreak:
		return []string{strings.Repeat("─", 10)}
	case *extast.Table:
		return preformatted(md.DrawTable(n, w.source), "")
	}
	if inline := w.inline(n); inline != "" {
		return strings.Split(inline, "\n")
	}
	return nil
}

// within puts a text into an element, unless it is blank.
func within(element, attribute, text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return strings.Split("<"+element+attribute+">"+text+"</"+element+">", "\n")
}

func preformatted(code, language string) []string {
	code = escape(strings.TrimRight(code, "\n"))
	if language == "" {
		return within("pre", "", code)
	}
	return within("pre", "", strings.Join(within("code", ` class="language-`+escape(language)+`"`, code), "\n"))
}

func (w writer) list(n *ast.List) []string {
	var lines []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "• "
		if n.IsOrdered() {
			marker = fmt.Sprintf("%d. ", number)
			number++
		}
		if !n.IsTight && len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, md.Indent(w.blocks(item, !n.IsTight), marker, "    ")...)
	}
	return lines
}

// inline returns the text of a node's children.
func (w writer) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, is := md.Literal(n, w.source); is {
			b.WriteString(escape(t))
			continue
		}
		b.WriteString(w.span(n))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (w writer) span(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CodeSpan:
		return "<code>" + escape(md.PlainText(n, w.source)) + "</code>"
	case *ast.Emphasis:
		if n.Level == 1 {
			return "<i>" + w.inline(n) + "</i>"
		}
		return "<b>" + w.inline(n) + "</b>"
	case *extast.Strikethrough:
		return "<s>" + w.inline(n) + "</s>"
	case *ast.Link:
		return link(string(n.Destination), w.inline(n))
	case *ast.Image:
		return link(string(n.Destination), w.inline(n))
	case *ast.AutoLink:
		return link(string(n.URL(w.source)), escape(string(n.Label(w.source))))
	case *extast.TaskCheckBox:
		return md.Box(n.IsChecked)
	}
	return w.inline(n)
}

// linkable are the addresses that Telegram links to. It drops others without a word.
var linkable = regexp.MustCompile(`^(?i:https?://|tg://|mailto:|tel:)`)

// link returns a link with a label in HTML.
func link(to, label string) string {
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

package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// Style is how a markup writes what Markdown has. What is not set is written as plain text.
// A text is styled if it is in the markup already, otherwise it is to be escaped.
type Style struct {
	Text                 func(text string) string           // adjacent text in one piece
	Bold, Italic, Strike func(styled string) string         // nothing is made bold twice
	Code                 func(text string) string           // within a line
	Block                func(text, language string) string // of code, or a table that was drawn
	Table                func(rows [][]string) string       // not set: it is drawn
	Quote                func(styled string) string         // not set: each line begins with ">"
	Link                 func(styled, to string) string     // also an image
	Indent               string                             // of a list's content; not set: as wide as the marker
}

// Render returns Markdown in a style. All of a text that is [TooLong] is plain text.
func Render(markdown string, s Style) string {
	s.Text, s.Code = or(s.Text), or(s.Code)
	s.Bold, s.Italic, s.Strike = or(s.Bold), or(s.Italic), or(s.Strike)
	if s.Block == nil {
		s.Block = func(text, _ string) string { return text }
	}
	if s.Link == nil {
		s.Link = writeOut
	}
	if TooLong(markdown) {
		return s.Text(markdown)
	}
	r := renderer{Style: s, source: []byte(markdown)}
	return strings.Join(r.blocks(Parse(r.source), true), "\n")
}

// Plain returns Markdown as text for platforms without markup: what is marked is written
// plainly, links are followed by their addresses, tables have a row in a line. A text that
// is [TooLong] is returned as it is.
func Plain(markdown string) string {
	if TooLong(markdown) {
		return markdown
	}
	return strings.TrimSpace(Render(markdown, Style{Table: func(rows [][]string) string {
		var lines []string
		for _, cells := range rows {
			lines = append(lines, strings.Join(cells, " | "))
		}
		return strings.Join(lines, "\n")
	}}))
}

func or(f func(string) string) func(string) string {
	if f == nil {
		return func(text string) string { return text }
	}
	return f
}

// renderer renders parsed Markdown. All fields of its style but Table and Quote are set.
type renderer struct {
	Style
	source []byte
	bold   bool // everything is bold already
}

// blocks returns the lines of a node's children, with a blank line between them if loose.
func (r renderer) blocks(parent ast.Node, loose bool) []string {
	var lines []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		block := r.block(n)
		if loose && len(lines) > 0 && len(block) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

func (r renderer) block(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.List:
		return r.list(n)
	case *ast.Blockquote:
		lines := r.blocks(n, true)
		if r.Quote == nil {
			return Indent(lines, "> ", "> ")
		}
		return linesOf(r.Quote(strings.Join(lines, "\n")))
	case *ast.Heading:
		r.bold = true
		return linesOf(r.Bold(r.inline(n)))
	case *ast.FencedCodeBlock:
		return linesOf(r.Block(r.raw(n), string(n.Language(r.source))))
	case *ast.CodeBlock:
		return linesOf(r.Block(r.raw(n), ""))
	case *ast.HTMLBlock:
		return linesOf(r.Text(r.raw(n)))
	case *ast.ThematicBreak:
		return []string{strings.Repeat("─", 10)}
	case *extast.Table:
		if r.Table == nil {
			return linesOf(r.Block(DrawTable(n, r.source), ""))
		}
		return linesOf(r.Table(rowsOf(n, r.source)))
	}
	return linesOf(r.inline(n))
}

// linesOf returns the lines of a text, none if it is blank.
func linesOf(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (r renderer) raw(n ast.Node) string {
	return strings.TrimRight(string(n.Lines().Value(r.source)), "\n")
}

func (r renderer) list(n *ast.List) []string {
	var lines []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "• "
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		indent := r.Indent
		if indent == "" {
			indent = strings.Repeat(" ", len([]rune(marker)))
		}
		if !n.IsTight && len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, Indent(r.blocks(item, !n.IsTight), marker, indent)...)
	}
	return lines
}

// inline returns the text of a node's children. Adjacent plain text is joined before it is
// styled, since what a platform sees in it, such as a mention, may span several nodes.
func (r renderer) inline(parent ast.Node) string {
	var b, text strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, is := Literal(n, r.source); is {
			text.WriteString(t)
			continue
		}
		b.WriteString(r.Text(text.String()))
		text.Reset()
		b.WriteString(r.span(n))
	}
	b.WriteString(r.Text(text.String()))
	return strings.TrimRight(b.String(), "\n")
}

func (r renderer) span(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CodeSpan:
		return r.Code(PlainText(n, r.source))
	case *ast.Emphasis:
		if n.Level == 1 {
			return r.Italic(r.inline(n))
		}
		if r.bold {
			return r.inline(n)
		}
		r.bold = true
		return r.Bold(r.inline(n))
	case *extast.Strikethrough:
		return r.Strike(r.inline(n))
	case *ast.Link:
		return r.Link(r.inline(n), string(n.Destination))
	case *ast.Image:
		return r.Link(r.inline(n), string(n.Destination))
	case *ast.AutoLink:
		return r.Link(r.Text(string(n.Label(r.source))), string(n.URL(r.source)))
	case *extast.TaskCheckBox:
		return Box(n.IsChecked)
	}
	return r.inline(n)
}

// writeOut writes a link out.
func writeOut(label, to string) string {
	to = strings.TrimPrefix(to, "mailto:")
	switch label {
	case "":
		return to
	case to, strings.TrimPrefix(to, "http://"):
		return label
	}
	if to == "" {
		return label
	}
	return label + " (" + to + ")"
}

// Around returns a style that puts a mark on both sides of each line, without white space
// between, as simple markups require.
func Around(mark string) func(string) string {
	return func(text string) string {
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if trimmed := strings.TrimSpace(line); trimmed != "" {
				at := strings.Index(line, trimmed)
				lines[i] = line[:at] + mark + trimmed + mark + line[at+len(trimmed):]
			}
		}
		return strings.Join(lines, "\n")
	}
}

// Fenced is a style of code blocks: a line of three backticks before and after. Zero-width
// spaces keep the code from ending it.
func Fenced(code, _ string) string {
	return "```\n" + strings.ReplaceAll(code, "```", "`\u200b`\u200b`") + "\n```"
}

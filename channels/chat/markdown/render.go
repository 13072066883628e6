package markdown

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// Marks are what a simple markup puts around text. An empty mark is left out.
type Marks struct{ Bold, Italic, Strike, Code, Fence string }

// Render returns Markdown in a simple markup, or as plain text without marks: with tables
// drawn, links written out, and bullets for lists. A text that is [TooLong] stays as it is.
func Render(markdown string, m Marks) string {
	if TooLong(markdown) {
		return markdown
	}
	source := []byte(markdown)
	r := renderer{Marks: m, source: source}
	return strings.Join(r.blocks(Parse(source), true), "\n")
}

// renderer renders parsed Markdown.
type renderer struct {
	Marks
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
	case *ast.Heading:
		r.bold = true
		return []string{Around(r.Bold, r.inline(n))}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return r.fenced(strings.TrimSuffix(string(n.Lines().Value(r.source)), "\n"))
	case *ast.HTMLBlock:
		return strings.Split(strings.TrimSuffix(string(n.Lines().Value(r.source)), "\n"), "\n")
	case *extast.Table:
		return r.fenced(DrawTable(n, r.source))
	case *ast.List:
		return r.list(n)
	case *ast.Blockquote:
		return Indent(r.blocks(n, true), "> ", "> ")
	case *ast.ThematicBreak:
		return []string{"———"}
	}
	return strings.Split(r.inline(n), "\n")
}

// fenced returns code between fences. Zero-width spaces keep it from ending them.
func (r renderer) fenced(code string) []string {
	lines := strings.Split(code, "\n")
	if r.Fence == "" {
		return lines
	}
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, "```", "`\u200b`\u200b`")
	}
	return append(append([]string{r.Fence}, lines...), r.Fence)
}

func (r renderer) list(n *ast.List) []string {
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
		lines = append(lines, Indent(r.blocks(item, !n.IsTight), marker, "  ")...)
	}
	return lines
}

// inline returns the text of a node's children.
func (r renderer) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, is := Literal(n, r.source); is {
			b.WriteString(t)
			continue
		}
		b.WriteString(r.span(n))
	}
	return b.String()
}

func (r renderer) span(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CodeSpan:
		return Around(r.Code, PlainText(n, r.source))
	case *ast.Emphasis:
		if n.Level == 1 {
			return Around(r.Italic, r.inline(n))
		}
		if r.bold {
			return r.inline(n)
		}
		r.bold = true
		return Around(r.Bold, r.inline(n))
	case *extast.Strikethrough:
		return Around(r.Strike, r.inline(n))
	case *ast.Link:
		return link(r.inline(n), string(n.Destination))
	case *ast.Image:
		return link(r.inline(n), string(n.Destination))
	case *ast.AutoLink:
		return string(n.Label(r.source))
	case *extast.TaskCheckBox:
		return Box(n.IsChecked)
	}
	return r.inline(n)
}

// link writes a link out.
func link(label, target string) string {
	switch {
	case label == "":
		return target
	case label == target, target == "":
		return label
	}
	return label + " (" + target + ")"
}

// Around puts a mark on both sides of each line of a text, without white space between, as
// simple markups require.
func Around(mark, text string) string {
	if mark == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if trimmed := strings.TrimSpace(line); trimmed != "" {
			at := strings.Index(line, trimmed)
			lines[i] = line[:at] + mark + trimmed + mark + line[at+len(trimmed):]
		}
	}
	return strings.Join(lines, "\n")
}

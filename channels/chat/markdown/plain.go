package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// Plain returns Markdown as text for platforms without markup: what is marked is written
// plainly, links are followed by their addresses, tables have a row in a line. A text that
// is [TooLong] is returned as it is.
func Plain(markdown string) string {
	if TooLong(markdown) {
		return markdown
	}
	p := plain{[]byte(markdown)}
	return strings.TrimSpace(strings.Join(p.blocks(Parse(p.source), true), "\n"))
}

type plain struct{ source []byte }

// blocks returns the lines of a node's children, with a blank line between them if loose.
func (p plain) blocks(parent ast.Node, loose bool) []string {
	var lines []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		block := p.block(n)
		if loose && len(lines) > 0 && len(block) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

func (p plain) block(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		return strings.Split(strings.TrimRight(string(n.Lines().Value(p.source)), "\n"), "\n")
	case *ast.Blockquote:
		return Indent(p.blocks(n, true), "> ", "> ")
	case *ast.List:
		return p.list(n)
	case *ast.ThematicBreak:
		return []string{strings.Repeat("─", 10)}
	case *extast.Table:
		return p.table(n)
	}
	if inline := p.inline(n); inline != "" {
		return strings.Split(inline, "\n")
	}
	return nil
}

func (p plain) list(n *ast.List) []string {
	var lines []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "• "
		if n.IsOrdered() {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		lines = append(lines, Indent(p.blocks(item, !n.IsTight), marker, strings.Repeat(" ", len([]rune(marker))))...)
	}
	return lines
}

func (p plain) table(n *extast.Table) []string {
	var lines []string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, cellText(cell, p.source))
		}
		lines = append(lines, strings.Join(cells, " | "))
	}
	return lines
}

func (p plain) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if literal, is := Literal(n, p.source); is {
			b.WriteString(literal)
			continue
		}
		switch n := n.(type) {
		case *ast.AutoLink:
			b.Write(n.Label(p.source))
		case *ast.Link:
			b.WriteString(linked(p.inline(n), string(n.Destination)))
		case *ast.Image:
			b.WriteString(linked(p.inline(n), string(n.Destination)))
		case *extast.TaskCheckBox:
			b.WriteString(Box(n.IsChecked))
		default:
			b.WriteString(p.inline(n))
		}
	}
	return b.String()
}

// linked returns a label and the address behind it.
func linked(label, address string) string {
	switch label {
	case "", address, strings.TrimPrefix(address, "mailto:"):
		return strings.TrimPrefix(address, "mailto:")
	}
	return label + " (" + address + ")"
}

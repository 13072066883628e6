package cli

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

const (
	minWidth  = 20
	ruleWidth = 40
)

// renderMarkdown formats Markdown for a terminal, in lines of at most width cells, and
// removes escape sequences from it. docs/decisions.md says why it is not glamour.
func renderMarkdown(source string, width int) string {
	source = clean(source)
	parser := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
	r := markdown{source: []byte(source)}
	return strings.Join(r.blocks(parser.Parse(text.NewReader(r.source)), max(width, minWidth), true), "\n")
}

type markdown struct {
	source []byte
}

// blocks returns the lines of a node's children, separated by empty lines if loose.
func (m markdown) blocks(parent ast.Node, width int, loose bool) []string {
	var lines []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		block := m.block(n, max(width, minWidth))
		if loose && len(lines) > 0 && len(block) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

func (m markdown) block(n ast.Node, width int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		return wrap(bold(style(35, 39, m.inline(n))), width)
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return m.code(n, width)
	case *ast.HTMLBlock:
		return wrap(strings.TrimRight(string(n.Lines().Value(m.source)), "\n"), width)
	case *ast.Blockquote:
		return prefixed(m.blocks(n, width-2, true), faint("│ "), faint("│ "))
	case *ast.List:
		return m.list(n, width)
	case *ast.ThematicBreak:
		return []string{faint(strings.Repeat("─", min(width, ruleWidth)))}
	case *extast.Table:
		return m.table(n, width)
	}
	return wrap(m.inline(n), width)
}

func (m markdown) code(n ast.Node, width int) []string {
	var lines []string
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		line := strings.ReplaceAll(strings.TrimRight(string(segment.Value(m.source)), "\n"), "\t", "    ")
		for part := range strings.SplitSeq(ansi.Hardwrap(line, width-2, true), "\n") {
			lines = append(lines, "  "+style(36, 39, part))
		}
	}
	return lines
}

func (m markdown) list(n *ast.List, width int) []string {
	var lines []string
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		marker := "• "
		if n.IsOrdered() {
			marker = fmt.Sprintf("%d. ", number)
			number++
		}
		indent := strings.Repeat(" ", ansi.StringWidth(marker))
		if !n.IsTight && len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, prefixed(m.blocks(item, width-len(indent), !n.IsTight), marker, indent)...)
	}
	return lines
}

func (m markdown) table(n ast.Node, width int) []string {
	t := table.New().Border(lipgloss.NormalBorder()).
		StyleFunc(func(int, int) lipgloss.Style { return lipgloss.NewStyle().Padding(0, 1) })
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, m.inline(cell))
		}
		if row.Kind() == extast.KindTableHeader {
			t.Headers(cells...)
		} else {
			t.Row(cells...)
		}
	}
	drawn := t.String()
	if lipgloss.Width(drawn) > width {
		drawn = t.Width(width).String()
	}
	return strings.Split(drawn, "\n")
}

// inline returns the styled text of a node's children.
func (m markdown) inline(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		b.WriteString(m.span(n))
	}
	return b.String()
}

func (m markdown) span(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		if n.SoftLineBreak() || n.HardLineBreak() {
			return string(n.Value(m.source)) + "\n"
		}
		return string(n.Value(m.source))
	case *ast.String:
		return string(n.Value)
	case *ast.CodeSpan:
		return style(36, 39, m.inline(n))
	case *ast.Emphasis:
		if n.Level == 1 {
			return style(3, 23, m.inline(n))
		}
		return bold(m.inline(n))
	case *extast.Strikethrough:
		return style(9, 29, m.inline(n))
	case *ast.Link:
		return link(m.inline(n), string(n.Destination))
	case *ast.Image:
		return link(m.inline(n), string(n.Destination))
	case *ast.AutoLink:
		return link("", string(n.URL(m.source)))
	case *ast.RawHTML:
		return string(n.Segments.Value(m.source))
	case *extast.TaskCheckBox:
		if n.IsChecked {
			return "☑ "
		}
		return "☐ "
	}
	return m.inline(n)
}

func link(label, url string) string {
	url = style(4, 24, url)
	if label == "" || ansi.Strip(label) == ansi.Strip(url) {
		return url
	}
	return label + " (" + url + ")"
}

// prefixed adds first to the first line and rest to the other lines.
func prefixed(lines []string, first, rest string) []string {
	if len(lines) == 0 {
		return []string{first}
	}
	for i, line := range lines {
		if i == 0 {
			lines[i] = first + line
		} else {
			lines[i] = rest + line
		}
	}
	return lines
}

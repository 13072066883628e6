package markdown

import (
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// DrawTable draws a table for a monospaced font.
func DrawTable(n *extast.Table, source []byte) string {
	t := table.New().Border(lipgloss.MarkdownBorder()).BorderTop(false).BorderBottom(false).
		StyleFunc(func(_, column int) lipgloss.Style {
			return lipgloss.NewStyle().Padding(0, 1).Align(alignment(n, column))
		})
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, cellText(cell, source))
		}
		if row.Kind() == extast.KindTableHeader {
			t.Headers(cells...)
		} else {
			t.Row(cells...)
		}
	}
	lines := strings.Split(t.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

var lineBreaks = strings.NewReplacer("<br>", " ", "<br/>", " ", "<br />", " ", "\n", " ", "\t", " ")

func cellText(cell ast.Node, source []byte) string {
	return strings.TrimSpace(lineBreaks.Replace(PlainText(cell, source)))
}

var positions = map[extast.Alignment]lipgloss.Position{extast.AlignRight: lipgloss.Right, extast.AlignCenter: lipgloss.Center}

func alignment(n *extast.Table, column int) lipgloss.Position {
	if column < 0 || column >= len(n.Alignments) {
		return lipgloss.Left
	}
	return positions[n.Alignments[column]] // else the zero value, which is left
}

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
	rows := rowsOf(n, source)
	t.Headers(rows[0]...).Rows(rows[1:]...)
	lines := strings.Split(t.String(), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// rowsOf returns the text of a table's cells, the header first.
func rowsOf(n *extast.Table, source []byte) (rows [][]string) {
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, cellText(cell, source))
		}
		rows = append(rows, cells)
	}
	return rows
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

// Table is a table as plain text, header first.
type Table struct {
	Rows       [][]string
	Alignments []extast.Alignment // of the columns
}

// OnlyTable returns the table of a text that has exactly one, outside of lists and quotes,
// and what is written before and after it. It reports false for other texts, and for one
// that is [TooLong].
func OnlyTable(text string) (before string, t Table, after string, found bool) {
	if TooLong(text) {
		return "", t, "", false
	}
	source := []byte(text)
	var only *extast.Table
	tables := 0
	_ = ast.Walk(Parse(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() != extast.KindTable || !entering {
			return ast.WalkContinue, nil
		}
		tables++
		if n.Parent().Kind() == ast.KindDocument {
			only, _ = n.(*extast.Table)
		}
		return ast.WalkSkipChildren, nil
	})
	if tables != 1 || only == nil {
		return "", t, "", false
	}
	t = Table{rowsOf(only, source), only.Alignments}
	start, stop := tableSpan(only, source)
	return strings.TrimRight(text[:startOfLine(text, start)], "\n"), t, strings.TrimLeft(text[stop:], "\n"), true
}

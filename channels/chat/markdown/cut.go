package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// CutTables cuts a text into pieces that have at most n tables each, those in lists and
// quotes not counted. A heading stays with the table below it. A text that is [TooLong] is
// split first.
func CutTables(text string, n int) []string {
	var pieces []string
	for _, part := range Split(text, Limit) {
		source := []byte(part)
		start, tables := 0, 0
		for block := Parse(source).FirstChild(); block != nil; block = block.NextSibling() {
			if block.Kind() != extast.KindTable {
				continue
			}
			if tables++; tables <= n {
				continue
			}
			at := startOfLine(part, block.FirstChild().Pos())
			if heading, is := block.PreviousSibling().(*ast.Heading); is && heading.Lines().Len() > 0 {
				at = startOfLine(part, heading.Lines().At(0).Start)
			}
			pieces = append(pieces, strings.TrimRight(part[start:at], "\n"))
			start, tables = at, 1
		}
		pieces = append(pieces, part[start:])
	}
	return pieces
}

func startOfLine(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

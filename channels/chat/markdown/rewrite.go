package markdown

import (
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// edit replaces a part of a text.
type edit struct {
	start, stop int
	text        string
}

// Rewrite returns Markdown with prose and code changed by these functions and, if draw,
// with tables and check boxes drawn. Everything else stays as it was written. A text
// that is [TooLong] is treated as prose.
func Rewrite(markdown string, draw bool, prose, code func(string) string) string {
	if TooLong(markdown) {
		return prose(markdown)
	}
	source := []byte(markdown)
	var edits []edit
	_ = ast.Walk(Parse(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			for i := range n.Lines().Len() {
				s := n.Lines().At(i)
				edits = append(edits, edit{s.Start, s.Stop, code(string(source[s.Start:s.Stop]))})
			}
		case *ast.CodeSpan:
			for child := n.FirstChild(); child != nil; child = child.NextSibling() {
				if t, is := child.(*ast.Text); is {
					edits = append(edits, edit{t.Segment.Start, t.Segment.Stop, code(string(t.Segment.Value(source)))})
				}
			}
		case *extast.TaskCheckBox:
			if at := n.Pos(); draw && at >= 0 {
				edits = append(edits, edit{at, min(at+len("[ ] "), len(source)), Box(n.IsChecked)})
			}
		case *extast.Table:
			if draw {
				edits = append(edits, tableEdit(n, source, code))
				return ast.WalkSkipChildren, nil
			}
		}
		return ast.WalkContinue, nil
	})
	return apply(markdown, edits, prose)
}

// apply applies the edits, and between to everything else.
func apply(markdown string, edits []edit, between func(string) string) string {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	done := 0
	for _, e := range edits {
		if e.start < done {
			continue
		}
		b.WriteString(between(markdown[done:e.start]))
		b.WriteString(e.text)
		done = e.stop
	}
	b.WriteString(between(markdown[done:]))
	return b.String()
}

// listMarker matches the characters of a list marker or quote before a table.
var listMarker = regexp.MustCompile(`[^>\s]`)

// tableEdit replaces a table by its drawing in a fence.
func tableEdit(n *extast.Table, source []byte, code func(string) string) edit {
	start, stop := tableSpan(n, source)
	line := startOfLine(string(source), start)
	before := listMarker.ReplaceAllString(string(source[line:start]), " ")
	drawn := code(strings.ReplaceAll(DrawTable(n, source), "```", "`\u200b`\u200b`"))
	return edit{start, stop, strings.Join(Indent(strings.Split("```\n"+drawn+"\n```", "\n"), "", before), "\n")}
}

// tableSpan returns where a table begins and ends.
func tableSpan(n *extast.Table, source []byte) (start, stop int) {
	start, stop = n.FirstChild().Pos(), n.LastChild().Pos()
	lines := 1
	if n.FirstChild() == n.LastChild() {
		lines = 2 // no rows
	}
	for ; lines > 0; lines-- {
		for stop < len(source) && source[stop] != '\n' {
			stop++
		}
		if lines > 1 && stop < len(source) {
			stop++
		}
	}
	return start, stop
}

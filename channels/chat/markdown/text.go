package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// Literal returns the text of a plain text node.
func Literal(n ast.Node, source []byte) (string, bool) {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Value(source)
		if !n.IsRaw() {
			value = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
		}
		if n.SoftLineBreak() || n.HardLineBreak() {
			return string(value) + "\n", true
		}
		return string(value), true
	case *ast.String:
		return string(n.Value), true
	case *ast.RawHTML:
		return string(n.Segments.Value(source)), true
	}
	return "", false
}

// PlainText returns the text of a node and those within it, as it is written.
func PlainText(parent ast.Node, source []byte) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, is := Literal(n, source); is {
			b.WriteString(t)
			continue
		}
		if auto, is := n.(*ast.AutoLink); is {
			b.Write(auto.Label(source))
			continue
		}
		b.WriteString(PlainText(n, source))
	}
	return b.String()
}

// Indent prefixes the first line with first and the other lines with rest.
func Indent(lines []string, first, rest string) []string {
	if len(lines) == 0 {
		return []string{strings.TrimSpace(first)}
	}
	for i, line := range lines {
		if i == 0 {
			lines[i] = strings.TrimRight(first+line, " ")
		} else {
			lines[i] = strings.TrimRight(rest+line, " ")
		}
	}
	return lines
}

// Box draws a check box.
func Box(checked bool) string {
	if checked {
		return "☑ "
	}
	return "☐ "
}

package slack

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// plainText is the text of a node and those within it, as it is written.
func plainText(parent ast.Node, source []byte) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, is := literal(n, source); is {
			b.WriteString(t)
			continue
		}
		if auto, is := n.(*ast.AutoLink); is {
			b.Write(auto.Label(source))
			continue
		}
		b.WriteString(plainText(n, source))
	}
	return b.String()
}

// literal is the text of a node that is nothing but text.
func literal(n ast.Node, source []byte) (string, bool) {
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

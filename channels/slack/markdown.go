package slack

import (
	"fmt"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

// mrkdwn converts Markdown to Slack's own markup, at most 4,000 characters. It is shown in
// notifications and by clients without blocks.
func mrkdwn(markdown string) string { return cutMarkup(render(markdown), textLimit) }

// render is mrkdwn without the limit.
func render(markdown string) string {
	if md.TooLong(markdown) {
		return prose(markdown)
	}
	source := []byte(markdown)
	w := writer{source: source}
	return strings.Join(w.blocks(md.Parse(source), true), "\n")
}

// writer writes parsed Markdown in Slack's markup.
type writer struct {
	source []byte
	bold   bool // all that is written is bold already
}

// blocks returns the lines of a node's children, with a blank line between them if loose.
func (w writer) blocks(parent ast.Node, loose bool) []string {
	var lines []string
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		block := w.block(n)
		if loose && len(lines) > 0 && len(block) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

func (w writer) block(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.Heading:
		w.bold = true
		return []string{around("*", w.inline(n))}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		return codeLines(string(n.Lines().Value(w.source)))
	case *ast.HTMLBlock:
		return strings.Split(escape(strings.TrimRight(string(n.Lines().Value(w.source)), "\n")), "\n")
	case *ast.Blockquote:
		return md.Indent(w.blocks(n, true), "> ", "> ")
	case *ast.List:
		return w.list(n)
	case *ast.ThematicBreak:
		return []string{strings.Repeat("─", 10)}
	case *extast.Table:
		return codeLines(md.DrawTable(n, w.source))
	}
	if inline := w.inline(n); inline != "" {
		return strings.Split(inline, "\n")
	}
	return nil
}

// codeLines returns code in a fence. Backticks that would end the fence are separated.
func codeLines(code string) []string {
	code = strings.ReplaceAll(escape(strings.TrimRight(code, "\n")), "```", "`\u200b`\u200b`")
	return append(append([]string{"```"}, strings.Split(code, "\n")...), "```")
}

func (w writer) list(n *ast.List) []string {
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
		lines = append(lines, md.Indent(w.blocks(item, !n.IsTight), marker, "    ")...)
	}
	return lines
}

// inline returns the text of a node's children. Adjacent plain text is joined before it is
// escaped, since a mention may span several nodes.
func (w writer) inline(parent ast.Node) string {
	var b, plain strings.Builder
	flush := func() {
		b.WriteString(prose(plain.String()))
		plain.Reset()
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if t, is := md.Literal(n, w.source); is {
			plain.WriteString(t)
			continue
		}
		flush()
		b.WriteString(w.span(n))
	}
	flush()
	return b.String()
}

func (w writer) span(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CodeSpan:
		return around("`", escape(strings.ReplaceAll(md.PlainText(n, w.source), "`", "ˋ")))
	case *ast.Emphasis:
		return w.emphasis(n)
	case *extast.Strikethrough:
		return around("~", w.inline(n))
	case *ast.Link:
		return link(string(n.Destination), w.inline(n))
	case *ast.Image:
		return link(string(n.Destination), w.inline(n))
	case *ast.AutoLink:
		return link(string(n.URL(w.source)), escape(string(n.Label(w.source))))
	case *extast.TaskCheckBox:
		return md.Box(n.IsChecked)
	}
	return w.inline(n)
}

func (w writer) emphasis(n *ast.Emphasis) string {
	if n.Level == 1 {
		return around("_", w.inline(n))
	}
	if w.bold {
		return w.inline(n)
	}
	w.bold = true
	return around("*", w.inline(n))
}

// around puts a mark on both sides of each line of a text, without white space between, as
// Slack requires.
func around(mark, text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if trimmed := strings.TrimSpace(line); trimmed != "" {
			at := strings.Index(line, trimmed)
			lines[i] = line[:at] + mark + trimmed + mark + line[at+len(trimmed):]
		}
	}
	return strings.Join(lines, "\n")
}

package slack

import (
	"regexp"
	"slices"
	"strings"

	"github.com/slack-go/slack"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
)

// blockLimit is the most characters that the markdown blocks of a message hold.
const blockLimit = 12_000

// blocks is a text in Markdown as Slack's blocks: one that Slack renders itself.
func blocks(markdown string) []slack.Block {
	return []slack.Block{slack.NewMarkdownBlock("", blockText(markdown))}
}

// blockText is Markdown as Slack's markdown block takes it: tables and check boxes
// drawn, since not every client does that, and no more of Slack's own <…>, which
// the block heeds too, than mentions of a person or a channel. See
// https://docs.slack.dev/reference/block-kit/blocks/markdown-block.
func blockText(markdown string) string {
	return cutBlock(rewrite(markdown, true, quietBlock, quietCode))
}

// cutBlock returns Markdown in at most blockLimit characters.
func cutBlock(markdown string) string {
	if runes := []rune(markdown); len(runes) > blockLimit {
		return string(runes[:blockLimit-1]) + "…"
	}
	return markdown
}

// angle is one of Slack's <…> or what could become one.
var angle = regexp.MustCompile(`\\?<([^<>\n]*>)?`)

// autolink is a link of Markdown's <…>.
var autolink = regexp.MustCompile(`^<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>|]*|[^\s<>|@:]+@[^\s<>|@]+)>$`)

// quietBlock lets no more than mentions of a person or a channel through.
func quietBlock(prose string) string {
	return quiet(angle.ReplaceAllStringFunc(prose, func(m string) string {
		if mention.MatchString(m) && !strings.HasPrefix(m, `\`) {
			return m
		}
		if address := autolink.FindStringSubmatch(m); address != nil {
			return address[1]
		}
		return "&lt;" + strings.TrimPrefix(m, `\`)[1:]
	}))
}

// quietCode changes code no more than is needed so that it calls nobody, whatever
// the client takes for code.
func quietCode(code string) string { return strings.ReplaceAll(code, "<!", "<\u200b!") }

// edit is a change of a part of a text.
type edit struct {
	start, stop int
	text        string
}

// rewrite returns Markdown with prose and code changed as said, and, if draw, with
// tables and check boxes drawn. All else stays as the model wrote it. A text that is
// too long is all prose.
func rewrite(markdown string, draw bool, prose, code func(string) string) string {
	if tooLong(markdown) {
		return prose(markdown)
	}
	source := []byte(markdown)
	var edits []edit
	_ = ast.Walk(parsed(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
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
				edits = append(edits, edit{at, min(at+len("[ ] "), len(source)), box(n.IsChecked)})
			}
		case *extast.Table:
			if draw {
				edits = append(edits, tableEdit(n, source))
				return ast.WalkSkipChildren, nil
			}
		}
		return ast.WalkContinue, nil
	})
	return apply(markdown, edits, prose)
}

// apply makes the edits, and changes all that is between them.
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

// listMarker is the beginning of a list item's line.
var listMarker = regexp.MustCompile(`[^>\s]`)

// tableEdit replaces a table by a drawing of it, in a fence.
func tableEdit(n *extast.Table, source []byte) edit {
	start := n.FirstChild().Pos()
	line := start
	for line > 0 && source[line-1] != '\n' {
		line--
	}
	stop := n.LastChild().Pos()
	lines := 1
	if n.FirstChild() == n.LastChild() {
		lines = 2 // there is nothing below the line under the header
	}
	for ; lines > 0; lines-- {
		for stop < len(source) && source[stop] != '\n' {
			stop++
		}
		if lines > 1 && stop < len(source) {
			stop++
		}
	}
	before := listMarker.ReplaceAllString(string(source[line:start]), " ")
	drawn := quietCode(strings.ReplaceAll(drawTable(n, source), "```", "`\u200b`\u200b`"))
	return edit{start, stop, strings.Join(indented(strings.Split("```\n"+drawn+"\n```", "\n"), "", before), "\n")}
}

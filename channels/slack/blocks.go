package slack

import (
	"cmp"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"
	extast "github.com/yuin/goldmark/extension/ast"

	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

// blockLimit is how many characters the markdown blocks of a message hold.
const blockLimit = 12_000

// blocks returns Markdown as a block that Slack renders itself, with its tables drawn.
func blocks(markdown string) []slack.Block {
	return []slack.Block{slack.NewMarkdownBlock("", blockText(markdown))}
}

// Slack's limits of a table, of which a message has one.
const (
	tableRows    = 100
	tableColumns = 20
	tableRunes   = 10_000
)

// withTable returns Markdown as blocks with its only table as a table of Slack's; nil if it
// has none, or several, or a larger one.
func withTable(markdown string) []slack.Block {
	before, t, after, found := md.OnlyTable(markdown)
	if !found || len(t.Rows) > tableRows || len(t.Alignments) > tableColumns {
		return nil
	}
	table := slack.NewTableBlock("")
	size := 0
	for _, cells := range t.Rows {
		row := make([]slack.TableCell, len(cells))
		for i, cell := range cells {
			size += utf8.RuneCountInString(cell)
			row[i] = slack.NewTableRawTextCell(cmp.Or(quiet(cell), "\u00a0")) // Slack takes no empty cells
		}
		table.AddRow(row...)
	}
	if size > tableRunes {
		return nil
	}
	for _, alignment := range t.Alignments {
		table.ColumnSettings = append(table.ColumnSettings, slack.ColumnSetting{Align: columnAlignments[alignment], IsWrapped: true})
	}
	var parts []slack.Block
	if strings.TrimSpace(before) != "" {
		parts = blocks(before)
	}
	parts = append(parts, table)
	if strings.TrimSpace(after) != "" {
		parts = append(parts, blocks(after)...)
	}
	return parts
}

var columnAlignments = map[extast.Alignment]slack.ColumnAlignment{
	extast.AlignNone: slack.ColumnAlignmentLeft, extast.AlignLeft: slack.ColumnAlignmentLeft,
	extast.AlignCenter: slack.ColumnAlignmentCenter, extast.AlignRight: slack.ColumnAlignmentRight,
}

// blockText returns Markdown for Slack's markdown block: with tables and check boxes drawn,
// since that shows neither, and without Slack's <…> markup except mentions of
// a person or a channel. See
// https://docs.slack.dev/reference/block-kit/blocks/markdown-block.
func blockText(markdown string) string {
	return cutBlock(md.Rewrite(markdown, true, quietBlock, quietCode))
}

// cutBlock cuts Markdown to blockLimit characters.
func cutBlock(markdown string) string {
	if runes := []rune(markdown); len(runes) > blockLimit {
		return string(runes[:blockLimit-1]) + "…"
	}
	return markdown
}

// angle matches one of Slack's <…>, or the beginning of one.
var angle = regexp.MustCompile(`\\?<([^<>\n]*>)?`)

// autolink matches a Markdown link in angle brackets.
var autolink = regexp.MustCompile(`^<([a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>|]*|[^\s<>|@:]+@[^\s<>|@]+)>$`)

// quietBlock escapes all <…> except mentions of a person or a channel.
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

// quietCode keeps code from notifying everyone, whatever the client treats as code.
func quietCode(code string) string { return strings.ReplaceAll(code, "<!", "<\u200b!") }

const (
	partLimit = 11_000 // characters of a part, which grow when they are rendered
	tooLarge  = partLimit + 1
)

// sizeOf measures a text, and what it becomes: escapes and tables are longer than their
// source.
func sizeOf(markdown string) int {
	size := utf8.RuneCountInString(markdown)
	if size > partLimit || hasLongTable(markdown) || utf8.RuneCountInString(md.Rewrite(markdown, true, quietBlock, quietCode)) > blockLimit {
		return tooLarge
	}
	return size
}

// hasLongTable reports whether a text may have a table that is longer than Slack's.
func hasLongTable(markdown string) bool {
	rows := 0
	for line := range strings.Lines(markdown) {
		if rows++; !strings.HasPrefix(strings.TrimLeft(line, " >"), "|") {
			rows = 0
		}
		if rows > tableRows+1 { // the line below the header is none
			return true
		}
	}
	return false
}

// drawn returns Markdown with its tables drawn, so that they can be split like code.
func drawn(markdown string) string { return md.Rewrite(markdown, true, unchanged, unchanged) }

func unchanged(s string) string { return s }

package slack

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
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
	return cutBlock(md.Rewrite(markdown, true, quietBlock, quietCode))
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

const (
	partLimit = 3800 // characters of a part, which grow when they are rendered
	tooLarge  = partLimit + 1
)

// sizeOf measures a text by what it looks like, too: escapes and tables are longer than
// what they were.
func sizeOf(markdown string) int {
	size := utf8.RuneCountInString(markdown)
	if size > partLimit || utf8.RuneCountInString(render(markdown)) > textLimit ||
		utf8.RuneCountInString(md.Rewrite(markdown, true, quietBlock, quietCode)) > blockLimit {
		return tooLarge
	}
	return size
}

// drawn returns Markdown with its tables drawn, so that they can be split like code.
func drawn(markdown string) string { return md.Rewrite(markdown, true, unchanged, unchanged) }

func unchanged(s string) string { return s }

package slack

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/slack-go/slack"

	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

// blockLimit is how many characters the markdown blocks of a message hold.
const blockLimit = 12_000

// blocks returns Markdown as a block that Slack renders itself.
func blocks(markdown string) []slack.Block {
	return []slack.Block{slack.NewMarkdownBlock("", blockText(markdown))}
}

// blockText returns Markdown for Slack's markdown block: with tables and check boxes drawn,
// since not every client renders them, and without Slack's <…> markup except mentions of
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
	partLimit = 3800 // characters of a part, which grow when they are rendered
	tooLarge  = partLimit + 1
)

// sizeOf measures a text, and what it becomes: escapes and tables are longer than their
// source.
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

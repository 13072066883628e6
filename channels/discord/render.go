package discord

import (
	"regexp"
	"strings"

	"github.com/holdfast-ai/holdfast/channels/chat"
	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

const (
	maxContent = 2000 // characters of a message
	maxNote    = 300  // of the note below it
	// textLimit is what a message may have besides its mark.
	textLimit = maxContent - markLength
)

// sizeOf measures Markdown as Discord shows it. Whether Discord counts UTF-16 units or
// characters is not documented; there are never fewer of the former.
func sizeOf(markdown string) int { return chat.UTF16(render(markdown)) }

var (
	deepHeading = regexp.MustCompile(`(?m)^ {0,3}#{4,6} +(.+?)[ #]*$`)
	image       = regexp.MustCompile(`!(\[[^\]\n]*\]\()`)
	ruler       = regexp.MustCompile(`(?m)^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$`)
)

// render returns Markdown as Discord knows it: without tables, check boxes, images, rulers and
// small headings.
func render(markdown string) string {
	return md.Rewrite(markdown, true, func(prose string) string {
		prose = deepHeading.ReplaceAllString(prose, "**$1**")
		prose = image.ReplaceAllString(prose, "$1")
		return ruler.ReplaceAllString(prose, "──────────")
	}, func(code string) string { return code })
}

// contentOf returns the content of a message.
func contentOf(msg chat.Message) string {
	text, note := render(msg.Text), ""
	if msg.Note != "" {
		note = "-# " + escape(cut(strings.Join(strings.Fields(msg.Note), " "), maxNote))
		if text != "" {
			note = "\n" + note
		}
	}
	return cut(text, textLimit-chat.UTF16(note)) + note + markOf(msg)
}

// cut cuts a text to limit UTF-16 units, and closes an open fence.
func cut(text string, limit int) string {
	if chat.UTF16(text) <= limit {
		return text
	}
	const end, fence = "…", "\n```"
	runes := []rune(text)
	for runes = runes[:min(len(runes), limit)]; chat.UTF16(string(runes)) > limit-len(end)-len(fence); {
		runes = runes[:len(runes)-1]
	}
	text = string(runes) + end
	if strings.Count(text, "```")%2 == 1 {
		text += fence
	}
	return text
}

var escaper = regexp.MustCompile("[\\\\*_~`|<>#\\[\\]()@:-]")

// escape returns text without any markup.
func escape(text string) string { return escaper.ReplaceAllString(text, `\$0`) }

// Escape implements [chat.Markup].
func (*platform) Escape(text string) string { return escape(text) }

// Mention implements [chat.Markup].
func (*platform) Mention(person string) string { return "<@" + person + ">" }

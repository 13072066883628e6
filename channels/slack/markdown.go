package slack

import (
	"strings"

	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

// mrkdwn converts Markdown to Slack's own markup, at most 4,000 characters. It is shown in
// notifications and by clients without blocks.
func mrkdwn(markdown string) string { return cutMarkup(render(markdown), textLimit) }

// render is mrkdwn without the limit.
func render(markdown string) string { return md.Render(markdown, style) }

var style = md.Style{
	Text: prose, Bold: md.Around("*"), Italic: md.Around("_"), Strike: md.Around("~"), Link: link, Indent: "    ",
	Code:  func(text string) string { return md.Around("`")(escape(strings.ReplaceAll(text, "`", "ˋ"))) },
	Block: func(text, _ string) string { return md.Fenced(escape(text), "") },
}

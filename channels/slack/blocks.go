package slack

import "github.com/slack-go/slack"

// blocks is a text in Markdown as Slack's blocks: one, that Slack renders itself.
func blocks(markdown string) []slack.Block {
	return []slack.Block{slack.NewMarkdownBlock("", markdown)}
}

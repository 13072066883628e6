package slack

// mrkdwn is a text in Markdown in Slack's own markup, at most 4,000 characters: what
// notifications show, and clients that know no blocks.
func mrkdwn(markdown string) string { return markdown }

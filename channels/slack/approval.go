package slack

import (
	"fmt"
	"regexp"

	md "github.com/holdfast-ai/holdfast/channels/chat/markdown"
)

// howToAnswer is for questions whose buttons Slack refused.
func howToAnswer(question string) string {
	return fmt.Sprintf("Answer `/holdfast approve %[1]s` or `/holdfast deny %[1]s`.", question)
}

// approver is a Slack user as approvals name them.
var approver = regexp.MustCompile(`\b` + Name + `:([UW][A-Z0-9]{2,})\b`)

// withApprovers returns Markdown in which users named as approvers are mentioned. Code
// stays as it is.
func withApprovers(markdown string) string {
	return md.Rewrite(markdown, false, func(prose string) string { return approver.ReplaceAllString(prose, "<@$1>") }, unchanged)
}

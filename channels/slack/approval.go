package slack

import (
	"fmt"
	"regexp"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// The buttons of a question whether a tool call may be run, whose value is its ID.
const (
	approveAction = "holdfast_approve"
	denyAction    = "holdfast_deny"
)

// isAnswer reports whether a command answers a question.
func isAnswer(command domain.Command) bool {
	return command == domain.CommandApprove || command == domain.CommandDeny
}

// answerButtons let people answer a question.
func answerButtons(question string) slack.Block {
	button := func(action, label string, style slack.Style) slack.BlockElement {
		return slack.NewButtonBlockElement(action, question, slack.NewTextBlockObject(slack.PlainTextType, label, false, false)).WithStyle(style)
	}
	return slack.NewActionBlock("", button(approveAction, "Approve", slack.StylePrimary), button(denyAction, "Deny", slack.StyleDanger))
}

// howToAnswer is for questions whose buttons Slack did not take.
func howToAnswer(question string) string {
	return fmt.Sprintf("Answer `/holdfast approve %[1]s` or `/holdfast deny %[1]s`.", question)
}

// approver is somebody in Slack as approvals name them.
var approver = regexp.MustCompile(`\b` + Name + `:([UW][A-Z0-9]{2,})\b`)

// withApprovers is Markdown in which those are mentioned who may answer a question,
// or did. What is asked about is code, and stays as it is.
func withApprovers(markdown string) string {
	same := func(code string) string { return code }
	return rewrite(markdown, false, func(prose string) string { return approver.ReplaceAllString(prose, "<@$1>") }, same)
}

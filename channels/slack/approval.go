package slack

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackutilsx"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// The buttons of a question whether a tool call may be run, whose value is its ID.
const (
	approveAction = "holdfast_approve"
	denyAction    = "holdfast_deny"
)

// answers are the commands that the buttons stand for.
var answers = map[string]domain.Command{approveAction: domain.CommandApprove, denyAction: domain.CommandDeny}

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

// decide accepts a click on an answer. Who clicks is told what came of it, and not
// with a message that all have to read: see [follower.endAnswer].
func (r *receiver) decide(ctx context.Context, c click) error {
	if !domain.IsApprovalID(c.value) || c.thread == "" && !c.by.direct {
		r.log.Warn("click without a question ignored", "action", c.name, "chat", c.chat, "user_id", c.by.user)
		return nil
	}
	command := string(answers[c.name])
	msg := ordered("/"+command+" "+c.value, command+"-"+c.id, c.chat, c.thread, c.by)
	msg.Push = false
	return r.accept(ctx, msg)
}

// question is one that waits for an answer.
type question struct {
	domain.Approval
	thread string // of the conversation that waits
}

// decideIn answers a question of a chat that a slash command (text) names, or that is
// the only one: Slack does not say in which thread the command was typed. It returns
// what to tell the caller.
func (r *receiver) decideIn(ctx context.Context, s slash, chat, text string, by asker) (string, error) {
	waiting, err := r.questionsIn(ctx, chat)
	if err != nil {
		return "", err
	}
	command, id := domain.ParseAnswer(text)
	var meant []question
	for _, q := range waiting {
		if id == "" || q.ID == id {
			meant = append(meant, q)
		}
	}
	switch {
	case len(meant) == 1:
		text := "/" + string(command) + " " + meant[0].ID
		return "The answer is in its thread.", r.order(ctx, text, "command-"+s.TriggerID, chat, meant[0].thread, by)
	case len(meant) > 1:
		return "Which one? Say its ID after the command." + listing(meant), nil
	case id != "":
		return fmt.Sprintf("No question with the ID `%s` waits in this channel. If it is in a thread, use its buttons, or mention me there with `%s %s`.",
			slackutilsx.EscapeMessage(id), command, slackutilsx.EscapeMessage(id)), nil
	}
	return "Nothing waits for an approval here.", nil
}

// questionsIn returns the questions that the conversations of a chat wait for.
func (r *receiver) questionsIn(ctx context.Context, chat string) ([]question, error) {
	unanswered, err := r.waitingIn(ctx, chat)
	if err != nil {
		return nil, err
	}
	var found []question
	asked := map[string]bool{}
	for _, w := range unanswered {
		state, err := r.b.Message(ctx, w.ID)
		if err != nil {
			return nil, fmt.Errorf("look what a message waits for: %w", err)
		}
		for _, a := range state.Approvals {
			if !asked[a.ID] {
				asked[a.ID] = true
				found = append(found, question{a, w.Thread})
			}
		}
	}
	return found, nil
}

func listing(questions []question) string {
	var b strings.Builder
	for i, q := range questions {
		if i == maxListed {
			fmt.Fprintf(&b, "\n… and %d more", len(questions)-i)
			break
		}
		fmt.Fprintf(&b, "\n• `%s`: `%s`: %s", q.ID, q.Tool, slackutilsx.EscapeMessage(preview(q.Title)))
	}
	return b.String()
}

package slack

import (
	"strings"

	"github.com/slack-go/slack"

	"github.com/holdfast-ai/holdfast/channels/chat"
)

// feedbackAction is Slack's ID of the thumbs below a reply.
const feedbackAction = "holdfast_feedback"

// thumbs returns the block by which people rate a turn's reply. Slack itself shows what a
// person clicked last.
func thumbs(turn string) slack.Block {
	button := func(a chat.Action, label string) *slack.FeedbackButton {
		return slack.NewFeedbackButton(slack.NewTextBlockObject(slack.PlainTextType, label, false, false), string(a)+" "+turn)
	}
	return slack.NewContextActionsBlock("", slack.NewFeedbackButtonsBlockElement(
		feedbackAction, button(chat.ActionGood, "Good answer"), button(chat.ActionBad, "Bad answer")))
}

// meaning returns the action of a button and its value; an empty action if it is none of ours.
func (a action) meaning() (chat.Action, string) {
	if a.ID != feedbackAction {
		return actions[a.ID], a.Value
	}
	name, turn, _ := strings.Cut(a.Value, " ")
	if rating := chat.Action(name); turn != "" && (rating == chat.ActionGood || rating == chat.ActionBad) {
		return rating, turn
	}
	return "", ""
}

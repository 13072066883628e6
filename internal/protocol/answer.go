package protocol

import (
	"regexp"
	"strings"
)

// approvalID is what [ApprovalID] makes.
var approvalID = regexp.MustCompile(`^[a-z2-7]{8}$`)

// IsApprovalID reports whether a text can be the ID of a question whether a call may
// be run.
func IsApprovalID(text string) bool { return approvalID.MatchString(text) }

// answerWords are what answers such a question where one waits.
var answerWords = map[string]Command{
	"approve": CommandApprove, "yes": CommandApprove, "y": CommandApprove,
	"deny": CommandDeny, "no": CommandDeny, "n": CommandDeny,
}

// ParseAnswer reads a message as an answer to a question: a command, with what came
// after it as the question's ID, or without a slash a word alone or with an ID. With
// neither command is [CommandNone].
func ParseAnswer(text string) (command Command, id string) {
	command, id = ParseCommand(text)
	if command != CommandNone {
		return command, cleanID(id)
	}
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 || len(words) > 2 {
		return CommandNone, ""
	}
	if len(words) == 2 {
		id = cleanID(words[1])
		if !IsApprovalID(id) {
			return CommandNone, ""
		}
	}
	return answerWords[strings.TrimRight(words[0], ".!")], id
}

// cleanID is an ID without what people wrap it in.
func cleanID(typed string) string { return strings.ToLower(strings.Trim(typed, "`. ")) }

package domain

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Command is a slash command.
type Command string

// The commands.
const (
	CommandNone   Command = ""
	CommandHelp   Command = "help"
	CommandNew    Command = "new"
	CommandStop   Command = "stop"
	CommandStatus Command = "status"
	CommandModel  Command = "model"
	CommandJobs   Command = "jobs"
	CommandUsage  Command = "usage"

	CommandApprove Command = "approve"
	CommandDeny    Command = "deny"
)

// CommandSpec describes a command. Help texts and the parser are derived from it.
type CommandSpec struct {
	Name        Command
	Arguments   string // placeholder shown to users; empty: none
	Description string // a few words
	// Immediate commands are answered during a running turn. Workflows depend on it: it
	// must not change once released.
	Immediate bool
}

// Form returns how a user types the command: prefix, name and arguments.
func (c CommandSpec) Form(prefix string) string {
	return strings.TrimSpace(prefix + string(c.Name) + " " + c.Arguments)
}

// Commands returns all commands in the order of the help text.
func Commands() []CommandSpec {
	return []CommandSpec{
		{Name: CommandNew, Description: "start over: stop what is running and forget this conversation"},
		{Name: CommandStop, Description: "stop what is running", Immediate: true},
		{Name: CommandStatus, Description: "show what is running", Immediate: true},
		{Name: CommandModel, Arguments: "[provider/model | default]", Description: "show or change the model", Immediate: true},
		{Name: CommandJobs, Description: "list scheduled prompts", Immediate: true},
		{Name: CommandUsage, Description: "tokens and cost of this conversation", Immediate: true},
		{Name: CommandApprove, Arguments: "[ID]", Description: "approve a waiting call", Immediate: true},
		{Name: CommandDeny, Arguments: "[ID]", Description: "deny a waiting call", Immediate: true},
		{Name: CommandHelp, Description: "show this help", Immediate: true},
	}
}

// LookupCommand returns a command by its name.
func LookupCommand(name Command) (spec CommandSpec, known bool) {
	all := Commands()
	i := slices.IndexFunc(all, func(c CommandSpec) bool { return c.Name == name })
	if i < 0 {
		return CommandSpec{}, false
	}
	return all[i], true
}

// ParseCommand splits a message that starts with a command into the command and its
// arguments. Unknown words after a slash, such as paths, are not commands.
func ParseCommand(text string) (command Command, arguments string) {
	word := strings.TrimSpace(text)
	if end := strings.IndexFunc(word, unicode.IsSpace); end > 0 {
		word, arguments = word[:end], strings.TrimSpace(word[end:])
	}
	name, slashed := strings.CutPrefix(strings.ToLower(word), "/")
	if spec, known := LookupCommand(Command(name)); slashed && known {
		return spec.Name, arguments
	}
	return CommandNone, ""
}

// approvalID matches the result of [ApprovalID].
var approvalID = regexp.MustCompile(`^[a-z2-7]{8}$`)

// IsApprovalID reports whether text has the form of an approval's ID.
func IsApprovalID(text string) bool { return approvalID.MatchString(text) }

// answerWords are the words that answer a waiting approval.
var answerWords = map[string]Command{
	"approve": CommandApprove, "yes": CommandApprove, "y": CommandApprove,
	"deny": CommandDeny, "no": CommandDeny, "n": CommandDeny,
}

// ParseAnswer reads a message as an answer to an approval: a command with an optional
// ID, or a word such as "yes", alone or followed by an ID. For other messages command
// is [CommandNone].
func ParseAnswer(text string) (command Command, id string) {
	command, id = ParseCommand(text)
	if command != CommandNone {
		return command, trimID(id)
	}
	words := strings.Fields(strings.ToLower(text))
	if len(words) == 0 || len(words) > 2 {
		return CommandNone, ""
	}
	if len(words) == 2 {
		id = trimID(words[1])
		if !IsApprovalID(id) {
			return CommandNone, ""
		}
	}
	return answerWords[strings.TrimRight(words[0], ".!")], id
}

// trimID strips the punctuation that people type around an ID.
func trimID(typed string) string { return strings.ToLower(strings.Trim(typed, "`. ")) }

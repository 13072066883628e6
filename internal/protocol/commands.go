package protocol

import (
	"slices"
	"strings"
	"unicode"
)

// Command is what a user asked of the session itself, with a slash.
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

// CommandSpec is what there is to know of a command. The help texts and the parsing
// are made of it.
type CommandSpec struct {
	Name      Command
	Arguments string // as a user is shown them; empty: it takes none
	Does      string // in a few words
	// AtOnce is set where the answer comes beside the running turn. Workflows decide
	// by it: it stays as it is once a version with the command is released.
	AtOnce bool
}

// Form is how a user gives the command: its name after a prefix, and its arguments.
func (c CommandSpec) Form(prefix string) string {
	return strings.TrimSpace(prefix + string(c.Name) + " " + c.Arguments)
}

// Commands are all there are, in the order of the help text.
func Commands() []CommandSpec {
	return []CommandSpec{
		{Name: CommandNew, Does: "start afresh: stop what is running and forget this conversation"},
		{Name: CommandStop, Does: "stop what is running", AtOnce: true},
		{Name: CommandStatus, Does: "what is running", AtOnce: true},
		{Name: CommandModel, Arguments: "[provider/model | default]", Does: "which model answers; with a name, another one does", AtOnce: true},
		{Name: CommandJobs, Does: "what is scheduled", AtOnce: true},
		{Name: CommandUsage, Does: "tokens and cost of this conversation", AtOnce: true},
		{Name: CommandApprove, Arguments: "[ID]", Does: "run what I asked about", AtOnce: true},
		{Name: CommandDeny, Arguments: "[ID]", Does: "do not run it", AtOnce: true},
		{Name: CommandHelp, Does: "this text", AtOnce: true},
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

// ParseCommand finds a command at the start of a message, and what comes after it.
// Anything else with a slash is a message like any other: paths start with one too.
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

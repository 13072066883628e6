// Package command is the command line of Holdfast. Its commands parse flags and print;
// [node] runs the process. Nothing but main imports it.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Main runs holdfast with the given arguments and returns its exit code. It prints
// errors to stderr.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := rootCommand(os.Environ())
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		if code, ok := errors.AsType[exitCode](err); ok {
			return int(code)
		}
		fmt.Fprintln(os.Stderr, "holdfast:", err)
		return 1
	}
	return 0
}

func rootCommand(environ []string) *cobra.Command {
	env := environment{vars: environ}
	root := newGroup("holdfast", "A durable agent runner",
		upCommand(env), chatCommand(env), workerCommand(env), starterCommand(env), engineCommand(env), rolloutCommand(env), versionCommand(),
		initCommand(env), doctorCommand(env), sessionsCommand(env), runsCommand(env), jobsCommand(env), memoryCommand(env),
		pairingCommand(env), approvalsCommand(env), slackCommand(), wechatCommand(env), usageCommand(env), migrateCommand(env),
	)
	root.Long = "Holdfast runs an agent whose every turn is a durable workflow: it resumes after a crash\nand finishes what it started."
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return plainFlagError(err) })
	return root
}

// conversion is how the flags package reports a value that does not convert.
var conversion = regexp.MustCompile(`strconv\.Parse(\w+): parsing "(?:[^"\\]|\\.)*": (.*)$`)

// plainFlagError says what a flag's value must be without naming Go's functions.
func plainFlagError(err error) error {
	found := conversion.FindStringSubmatch(err.Error())
	if found == nil {
		return err
	}
	wanted := "must be a whole number"
	switch {
	case found[1] == "Bool":
		wanted = "must be true or false"
	case strings.Contains(found[2], "range"):
		wanted = "is too large"
	}
	return errors.New(conversion.ReplaceAllLiteralString(err.Error(), wanted))
}

// newGroup returns a command that only has subcommands: it prints their help and rejects
// unknown ones.
func newGroup(name, short string, children ...*cobra.Command) *cobra.Command {
	group := newCommand(name, short, func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	group.AddCommand(children...)
	return group
}

// newCommand returns a command. Its arguments are the words of use between the name and
// the first flag; one in brackets is optional.
func newCommand(use, short string, run func(*cobra.Command, []string) error) *cobra.Command {
	args := strings.Fields(use)[1:]
	if flag := slices.IndexFunc(args, func(word string) bool { return strings.HasPrefix(word, "-") }); flag >= 0 {
		args = args[:flag]
	}
	check := cobra.ExactArgs(len(args))
	switch {
	case len(args) == 0:
		check = cobra.NoArgs
	case strings.HasPrefix(args[0], "["):
		check = cobra.MaximumNArgs(len(args))
	}
	return &cobra.Command{Use: use, Short: short, Args: check, RunE: run}
}

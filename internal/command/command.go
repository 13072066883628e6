// Package command is the command line of Holdfast. Its commands parse flags and print;
// [node] runs the process. Nothing but main imports it.
package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
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
	root := &cobra.Command{
		Use:           "holdfast",
		Short:         "A durable agent runner",
		Long:          "Holdfast runs an agent whose every turn is a durable workflow: it resumes after a crash\nand finishes what it started.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	env := environment{vars: environ}
	root.AddCommand(
		upCommand(env), chatCommand(env), workerCommand(env), starterCommand(env), engineCommand(env), versionCommand(),
		initCommand(env), doctorCommand(env), sessionsCommand(env), runsCommand(env), jobsCommand(env), memoryCommand(env), pairingCommand(env), approvalsCommand(env), slackCommand(), usageCommand(env),
	)
	group(root)
	return root
}

// group makes commands that only have subcommands print their help and reject
// unknown subcommands.
func group(parent *cobra.Command) {
	for _, child := range parent.Commands() {
		group(child)
	}
	if parent.HasSubCommands() && !parent.Runnable() {
		parent.Args = cobra.NoArgs
		parent.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

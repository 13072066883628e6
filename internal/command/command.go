// Package command is the command line: it reads the config, wires the packages
// into a process and runs it. It may import everything; nothing imports it.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/llm"
)

// Main runs holdfast with its command line and returns the exit code. The
// program's errors are printed as one line on stderr.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := rootCommand(os.Environ())
	root.SetArgs(args)
	if err := root.ExecuteContext(ctx); err != nil {
		if code, ok := errors.AsType[exitCode](err); ok {
			return int(code)
		}
		if !errors.Is(err, errSilent) {
			fmt.Fprintln(os.Stderr, "holdfast:", err)
		}
		return 1
	}
	return 0
}

// errSilent ends the program with exit code 1 when the reason was printed.
var errSilent = errors.New("reported")

func rootCommand(environ []string) *cobra.Command {
	root := &cobra.Command{
		Use:           "holdfast",
		Short:         "A durable agent runner",
		Long:          "Holdfast runs an agent whose every turn is a durable workflow: what it started it finishes,\nwhatever happens to the machine.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	s := setting{environ: environ}
	root.AddCommand(
		upCommand(s), chatCommand(s), workerCommand(s), starterCommand(s), engineCommand(s), versionCommand(),
		initCommand(s), doctorCommand(s), sessionsCommand(s), runsCommand(s), jobsCommand(s), memoryCommand(s), pairingCommand(s), approvalsCommand(s), slackCommand(), usageCommand(s),
	)
	group(root)
	return root
}

// group has a command that only groups others show its help, and refuse what is none
// of them.
func group(parent *cobra.Command) {
	for _, child := range parent.Commands() {
		group(child)
	}
	if parent.HasSubCommands() && !parent.Runnable() {
		parent.Args = cobra.NoArgs
		parent.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
}

// setting is where a command finds its home and config.
type setting struct {
	environ []string
}

// load reads the config and makes the logger that it asks for.
func (s setting) load(stderr io.Writer) (config.Config, *slog.Logger, error) {
	cfg, err := config.LoadFile("", config.Options{Environ: s.environ, Providers: llm.KeyVariables()})
	if err != nil {
		return config.Config{}, nil, err
	}
	return cfg, newLogger(cfg.Log, stderr), nil
}

func newLogger(c config.Log, w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.Level)) // validated with the config
	options := &slog.HandlerOptions{Level: level}
	file, isFile := w.(*os.File)
	text := c.Format == config.LogText || c.Format == config.LogAuto && isFile && isatty.IsTerminal(file.Fd())
	if text {
		return slog.New(slog.NewTextHandler(w, options))
	}
	return slog.New(slog.NewJSONHandler(w, options))
}

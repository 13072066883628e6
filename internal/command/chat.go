package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

type chatOptions struct {
	message string
	once    bool // send message and exit
	session string
	logs    bool

	stdin          io.Reader
	stdout, stderr io.Writer
	// interrupt is closed by the first Ctrl-C.
	interrupt <-chan struct{}
}

func chatCommand(env environment) *cobra.Command {
	o := chatOptions{}
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk to the agent in the terminal, or send it a single message",
		Long: "Talk to the agent. If `holdfast up` is not running, chat runs everything itself until you leave;\n" +
			"unfinished turns resume at the next start.",
		Example: "  holdfast chat -m \"what is in my workspace?\"\n  git diff | holdfast chat -m -",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.once = cmd.Flags().Changed("message")
			o.stdin, o.stdout, o.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			cfg, log, err := env.load(o.stderr)
			if err != nil {
				return err
			}
			if !o.logs {
				log = slog.New(slog.DiscardHandler)
			}
			// Ctrl-C stops the turn. Other signals end this process, and the turn resumes
			// later.
			ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			o.interrupt = interrupts()
			return chat(ctx, cfg, log, o)
		},
	}
	cmd.Flags().StringVarP(&o.message, "message", "m", "", "send this message, print the reply and exit; - reads it from stdin")
	cmd.Flags().StringVar(&o.session, "session", "main", "session `name`")
	cmd.Flags().BoolVar(&o.logs, "logs", false, "show the log instead of progress")
	return cmd
}

// interrupts returns a channel that the first Ctrl-C closes. The second Ctrl-C exits
// immediately.
func interrupts() <-chan struct{} {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt)
	interrupt := make(chan struct{})
	go func() {
		<-signals
		close(interrupt)
		<-signals
		os.Exit(int(exitInterrupted))
	}()
	return interrupt
}

func chat(ctx context.Context, cfg config.Config, log *slog.Logger, o chatOptions) error {
	if o.once && o.message == "-" {
		text, err := io.ReadAll(o.stdin)
		if err != nil {
			return fmt.Errorf("read the message: %w", err)
		}
		o.message = strings.TrimRight(string(text), "\r\n")
	}
	if o.once && strings.TrimSpace(o.message) == "" {
		return errors.New("the message is empty")
	}
	var progress *cli.Progress
	if !o.logs {
		progress = cli.NewProgress(o.stderr) //nolint:contextcheck // Stop ends it
	}
	defer progress.Stop()
	progress.Show("starting")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	agent, leave, err := node.ReachAgent(ctx, cancel, cfg, log, o.interrupt)
	if err != nil {
		return err
	}
	defer leave()
	conversation := cli.New(cli.Options{Agent: agent, Session: o.session, Dir: filepath.Join(cfg.DataDir(), "chat")})
	err = o.talk(ctx, cfg, conversation, progress)
	switch {
	case errors.Is(err, cli.ErrInterrupted):
		return exitInterrupted
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w; unfinished turns resume later, and their replies appear in the session", context.Cause(ctx))
	}
	if failed := remote.As(err); failed != nil && failed.Status != 0 {
		return fmt.Errorf("refused: %w", failed.Err)
	}
	return err
}

// talk sends the message, or else holds a conversation, with a full-screen terminal if
// there is one.
func (o chatOptions) talk(ctx context.Context, cfg config.Config, c *cli.Conversation, progress *cli.Progress) error {
	in, typing := terminal(o.stdin)
	out, watching := terminal(o.stdout)
	_, asking := terminal(o.stderr)
	lines := cli.LinesOptions{In: o.stdin, Out: o.stdout, Err: o.stderr, Typing: typing && asking, Interrupt: o.interrupt}
	if o.once {
		lines.Progress = func() *cli.Progress { return progress }
		return cli.Ask(ctx, c, o.message, lines)
	}
	progress.Stop()
	if typing && watching && !o.logs {
		return cli.Terminal(ctx, c, cli.TerminalOptions{
			In: in, Out: out, History: filepath.Join(cfg.DataDir(), "chat_history"), Interrupt: o.interrupt,
		})
	}
	if typing && watching {
		lines.Prompt = "› "
	}
	if !o.logs {
		lines.Progress = func() *cli.Progress { return cli.NewProgress(o.stderr) } //nolint:contextcheck // Stop ends it
	}
	return cli.Lines(ctx, c, lines)
}

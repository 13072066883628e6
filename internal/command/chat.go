package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/engine"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

const (
	// healthPatience is how long an API has to say that it is there.
	healthPatience = 2 * time.Second
	// hostPatience is how long a process that has the home, but no API yet, has to
	// open one, or to leave.
	hostPatience = 10 * time.Second
	hostPause    = 200 * time.Millisecond

	// exitInterrupted is what a shell calls the end by Ctrl-C.
	exitInterrupted exitCode = 130
)

// exitCode ends the program without another word.
type exitCode int

// Error implements error.
func (e exitCode) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

type chatOptions struct {
	message string
	once    bool // send message and leave
	session string
	logs    bool

	stdin          io.Reader
	stdout, stderr io.Writer
	// interrupt is closed when the user wants to stop what is on.
	interrupt <-chan struct{}
}

func chatCommand(s setting) *cobra.Command {
	o := chatOptions{}
	cmd := &cobra.Command{
		Use:   "chat",
		Short: "Talk to the agent in the terminal, or send it one message",
		Long: "Talk to the agent. Without a running `holdfast up` everything is run for as long as the chat is open;\n" +
			"what is unfinished then goes on at the next start.",
		Example: "  holdfast chat -m \"what is in my workspace?\"\n  git diff | holdfast chat -m -",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.once = cmd.Flags().Changed("message")
			o.stdin, o.stdout, o.stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			cfg, log, err := s.load(o.stderr)
			if err != nil {
				return err
			}
			if !o.logs {
				log = slog.New(slog.DiscardHandler)
			}
			// Ctrl-C stops the turn, not us; everything else that ends us leaves the
			// turn to go on.
			ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			o.interrupt = interrupts()
			return chat(ctx, cfg, log, o)
		},
	}
	cmd.Flags().StringVarP(&o.message, "message", "m", "", "send this message, print the reply and leave; - reads it from stdin")
	cmd.Flags().StringVar(&o.session, "session", "main", "the session's `name`")
	cmd.Flags().BoolVar(&o.logs, "logs", false, "show what is logged, instead of what is going on")
	return cmd
}

// interrupts returns a channel that the first Ctrl-C closes. The second one ends
// the program at once.
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
		progress = cli.NewProgress(o.stderr)
	}
	defer progress.Stop()
	progress.Show("starting")
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	agent, leave, err := reachAgent(ctx, cancel, cfg, log, o.interrupt)
	if err != nil {
		return err
	}
	defer leave()
	conversation := cli.New(cli.Options{Agent: agent, Session: o.session, Dir: filepath.Join(cfg.DataDir(), "chat")})
	if o.once {
		err = cli.Ask(ctx, conversation, o.message, o.interrupt, progress, o.stdout)
	} else {
		progress.Stop()
		err = talk(ctx, cfg, conversation, o)
	}
	switch {
	case errors.Is(err, cli.ErrInterrupted):
		return exitInterrupted
	case err != nil && ctx.Err() != nil:
		return fmt.Errorf("%w; what is unfinished goes on, and its reply will be in the session", context.Cause(ctx))
	}
	if failed := remote.As(err); failed != nil && failed.Status != 0 {
		return fmt.Errorf("refused: %w", failed.Err)
	}
	return err
}

// talk is a conversation, with all that a terminal can do if we are at one.
func talk(ctx context.Context, cfg config.Config, c *cli.Conversation, o chatOptions) error {
	in, typing := terminal(o.stdin)
	out, watching := terminal(o.stdout)
	if typing && watching && !o.logs {
		return cli.Terminal(ctx, c, cli.TerminalOptions{
			In: in, Out: out, History: filepath.Join(cfg.DataDir(), "chat_history"), Interrupt: o.interrupt,
		})
	}
	lines := cli.LinesOptions{In: o.stdin, Out: o.stdout, Err: o.stderr, Interrupt: o.interrupt}
	if typing && watching {
		lines.Prompt = "› "
	}
	lines.Progress = func() *cli.Progress {
		if o.logs {
			return nil
		}
		return cli.NewProgress(o.stderr)
	}
	return cli.Lines(ctx, c, lines)
}

// terminal returns the file that f is, and whether it is a terminal.
func terminal(f any) (*os.File, bool) {
	file, ok := f.(*os.File)
	return file, ok && isatty.IsTerminal(file.Fd())
}

// reachAgent finds the agent that runs, or runs one. Leave ends what it started.
// Failed is told when an agent that it runs fails.
func reachAgent(
	ctx context.Context, failed context.CancelCauseFunc, cfg config.Config, log *slog.Logger, interrupt <-chan struct{},
) (_ apiAgent, leave func(), err error) {
	token := cfg.Channels.HTTP.Token.Reveal()
	deadline := time.Now().Add(hostPatience)
	for {
		if url := findAPI(ctx, cfg); url != "" {
			return apiAgent{client.New(url, token)}, func() {}, nil
		}
		if cfg.Temporal.Address != "" {
			return apiAgent{}, nil, fmt.Errorf("no starter answers at %s (channels.http.listen), and temporal.address is set: "+
				"run `holdfast starter` and `holdfast worker`, or `holdfast up`", cfg.Channels.HTTP.Listen)
		}
		n, err := hostNode(ctx, cfg, log, interrupt)
		if err == nil {
			return apiAgent{client.New(n.apiURL(), token)}, n.runBeside(failed), nil
		}
		if !errors.Is(err, engine.ErrInUse) || time.Now().After(deadline) {
			return apiAgent{}, nil, err
		}
		select {
		case <-interrupt:
			return apiAgent{}, nil, exitInterrupted
		case <-ctx.Done():
			return apiAgent{}, nil, context.Cause(ctx)
		case <-time.After(hostPause):
		}
	}
}

// hostNode opens everything for us alone. An interrupt ends only the start: what
// is open then has to outlive it, to be told that it shall stop.
func hostNode(ctx context.Context, cfg config.Config, log *slog.Logger, interrupt <-chan struct{}) (*node, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	opened := make(chan struct{})
	defer close(opened)
	go func() {
		select {
		case <-interrupt:
			cancel(exitInterrupted)
		case <-opened:
		}
	}()
	n, err := openNode(ctx, cfg, log, roles{engine: true, worker: true, starter: true, private: true})
	if ctx.Err() == nil {
		return n, err
	}
	if n != nil {
		n.close()
	}
	return nil, context.Cause(ctx)
}

// runBeside runs the node until stop is called. Failed is told if it ends before.
func (n *node) runBeside(failed context.CancelCauseFunc) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := n.run(ctx); err != nil {
			failed(err)
		}
	}()
	return func() {
		cancel()
		<-ended
		n.close()
	}
}

// findAPI returns the base of the API that serves this home: that of the process
// that runs on it, or the configured one. The default address counts only if
// something runs here: on its own it may as well belong to another home. Empty if
// none answers.
func findAPI(ctx context.Context, cfg config.Config) string {
	info, err := readRun(cfg.DataDir())
	if err == nil && info.API != "" && healthy(ctx, info.API) {
		return info.API
	}
	listen := cfg.Channels.HTTP.Listen
	if info.PID == 0 && cfg.Temporal.Address == "" && listen == config.Default(cfg.Home).Channels.HTTP.Listen {
		return ""
	}
	if url := listenURL(listen); url != "" && healthy(ctx, url) {
		return url
	}
	return ""
}

// listenURL is where an API that listens on an address is reached from here.
func listenURL(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "0" {
		return ""
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

func healthy(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	health, err := client.New(url, "").Health(ctx)
	return err == nil && health.Status == "ok" && health.Version != ""
}

// apiAgent is the [cli.Agent] behind an HTTP API.
type apiAgent struct {
	api *client.Client
}

// Send implements [cli.Agent].
func (a apiAgent) Send(ctx context.Context, session, id, text string) error {
	_, err := a.api.Send(ctx, session, id, text)
	return err
}

// Follow implements [cli.Agent].
func (a apiAgent) Follow(ctx context.Context, id string, on func(channels.Event)) (channels.MessageState, error) {
	m, err := a.api.Follow(ctx, id, on)
	return channels.MessageState{
		Message: m.ID, Session: m.Session, Status: m.Status, Reply: m.Reply, Turn: m.Turn, Usage: channels.Usage(m.Usage),
	}, err
}

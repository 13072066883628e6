package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/engine"
	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	// healthPatience is how long an API has to say that it is there.
	healthPatience = 2 * time.Second
	// hostPatience is how long a process that has the home, but no API yet, has to
	// open one, or to leave.
	hostPatience = 10 * time.Second
	hostPause    = 200 * time.Millisecond
)

// ReachAgent finds the agent that runs, or runs one. Leave ends what it started.
// Failed is told when an agent that it runs fails.
func ReachAgent(
	ctx context.Context, failed context.CancelCauseFunc, cfg config.Config, log *slog.Logger, interrupt <-chan struct{},
) (_ APIAgent, leave func(), err error) {
	token := cfg.Channels.HTTP.Token.Reveal()
	deadline := time.Now().Add(hostPatience)
	for {
		if url := FindAPI(ctx, cfg); url != "" {
			return APIAgent{client.New(url, token)}, func() {}, nil
		}
		if cfg.Temporal.Address != "" {
			return APIAgent{}, nil, fmt.Errorf("no starter answers at %s (channels.http.listen), and temporal.address is set: "+
				"run `holdfast starter` and `holdfast worker`, or `holdfast up`", cfg.Channels.HTTP.Listen)
		}
		n, err := hostNode(ctx, cfg, log, interrupt)
		if err == nil {
			return APIAgent{client.New(n.APIURL(), token)}, n.runBeside(failed), nil //nolint:contextcheck // what runs beside has to outlive an interrupt
		}
		if !errors.Is(err, engine.ErrInUse) || time.Now().After(deadline) {
			return APIAgent{}, nil, err
		}
		select {
		case <-interrupt:
			return APIAgent{}, nil, cli.ErrInterrupted
		case <-ctx.Done():
			return APIAgent{}, nil, context.Cause(ctx)
		case <-time.After(hostPause):
		}
	}
}

// hostNode opens everything for us alone. An interrupt ends only the start: what
// is open then has to outlive it, to be told that it shall stop.
func hostNode(ctx context.Context, cfg config.Config, log *slog.Logger, interrupt <-chan struct{}) (*Node, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	opened := make(chan struct{})
	defer close(opened)
	go func() {
		select {
		case <-interrupt:
			cancel(cli.ErrInterrupted)
		case <-opened:
		}
	}()
	n, err := Open(ctx, cfg, log, Roles{Engine: true, Worker: true, Starter: true, Private: true})
	if ctx.Err() == nil {
		return n, err
	}
	if n != nil {
		n.Close()
	}
	return nil, context.Cause(ctx)
}

// runBeside runs the node until stop is called. Failed is told if it ends before.
func (n *Node) runBeside(failed context.CancelCauseFunc) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := n.Run(ctx); err != nil {
			failed(err)
		}
	}()
	return func() {
		n.Temporal.AwaitIdle(leavePatience)
		cancel()
		<-ended
		n.leaving = true
		n.Close()
	}
}

// leavePatience bounds the wait for the run to close whose reply is shown.
const leavePatience = 500 * time.Millisecond

// FindAPI returns the base of the API that serves this home: that of the process
// that runs on it, or the configured one. The default address counts only if
// something runs here: on its own it may as well belong to another home. Empty if
// none answers.
func FindAPI(ctx context.Context, cfg config.Config) string {
	info, err := ReadRun(cfg.DataDir())
	if err == nil && info.API != "" && healthy(ctx, info.API) {
		return info.API
	}
	listen := cfg.Channels.HTTP.Listen
	if info.PID == 0 && cfg.Temporal.Address == "" && listen == config.Default(cfg.Home).Channels.HTTP.Listen {
		return ""
	}
	if url := ListenURL(listen); url != "" && healthy(ctx, url) {
		return url
	}
	return ""
}

// ListenURL is where an API that listens on an address is reached from here.
func ListenURL(listen string) string {
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

// APIAgent is the [cli.Agent] behind an HTTP API.
type APIAgent struct {
	API *client.Client
}

// Send implements [cli.Agent].
func (a APIAgent) Send(ctx context.Context, session, id, text string) error {
	_, err := a.API.Send(ctx, session, id, text)
	return err
}

// Background implements [cli.Agent].
func (a APIAgent) Background(ctx context.Context, session string, after time.Time) ([]domain.BackgroundReply, error) {
	return a.API.Background(ctx, domain.SessionKey(http.Name, session, ""), after)
}

// Follow implements [cli.Agent].
func (a APIAgent) Follow(ctx context.Context, id string, on func(event.Event)) (domain.Reply, error) {
	return a.API.Follow(ctx, id, on)
}

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
	"github.com/holdfast-ai/holdfast/internal/event"
)

const (
	// healthTimeout bounds a health check.
	healthTimeout = 2 * time.Second
	// hostTimeout bounds the wait for a process that holds the home without serving an
	// API: it may be starting or exiting.
	hostTimeout  = 10 * time.Second
	hostInterval = 200 * time.Millisecond
)

// ReachAgent connects to the running agent, or runs one in this process. The caller
// calls leave at the end. If the agent of this process fails, it calls failed. Closing
// interrupt aborts with [cli.ErrInterrupted].
func ReachAgent(
	ctx context.Context, failed context.CancelCauseFunc, cfg config.Config, log *slog.Logger, interrupt <-chan struct{},
) (_ APIAgent, leave func(), err error) {
	token := cfg.Channels.HTTP.Token.Reveal()
	ctx, cancel := context.WithCancelCause(ctx)
	reached := make(chan struct{})
	defer close(reached)
	go func() { // an interrupt aborts only this: an open node must outlive it to stop the turn
		select {
		case <-interrupt:
			cancel(cli.ErrInterrupted)
		case <-reached:
		}
	}()
	for deadline := time.Now().Add(hostTimeout); ; {
		if url := FindAPI(ctx, cfg); url != "" {
			find := func(ctx context.Context) string { return FindAPI(ctx, cfg) } // it may come back elsewhere
			return APIAgent{client.NewFinding(url, token, find)}, func() {}, nil
		}
		if cfg.Temporal.Address != "" {
			return APIAgent{}, nil, fmt.Errorf("no starter answers at %s (channels.http.listen), and temporal.address is set: "+
				"run `holdfast starter` and `holdfast worker`, or `holdfast up`", cfg.Channels.HTTP.Listen)
		}
		n, err := Open(ctx, cfg, log, Roles{Engine: true, Worker: true, Starter: true, Private: true})
		if err == nil {
			leave, err := n.runBeside(ctx, failed)
			return APIAgent{client.New(n.APIURL(), token)}, leave, err
		}
		if used, is := errors.AsType[*inUseError](err); ctx.Err() == nil && (!is || !used.serves || time.Now().After(deadline)) {
			return APIAgent{}, nil, err
		}
		select {
		case <-ctx.Done():
			return APIAgent{}, nil, context.Cause(ctx)
		case <-time.After(hostInterval):
		}
	}
}

// runBeside runs the node in the background until stop is called, even if ctx ends. It
// returns once the node is ready. If the node ends later, it calls failed.
func (n *Node) runBeside(ctx context.Context, failed context.CancelCauseFunc) (stop func(), err error) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		err := n.Run(running, func() { close(ready) })
		if err != nil {
			failed(err)
		}
		ended <- err
	}()
	leave := func() {
		cancel()
		<-ended //nolint:errcheck // failed has it
		n.Leave()
		n.Close()
	}
	select {
	case <-ready:
		return func() { //nolint:contextcheck // ctx ends before
			n.Temporal.AwaitIdle(leaveTimeout)
			leave()
		}, nil
	case err := <-ended:
		ended <- err
		leave()
		return nil, err
	case <-ctx.Done():
		leave()
		return nil, context.Cause(ctx)
	}
}

// leaveTimeout bounds the wait for the runs to close after the last reply.
const leaveTimeout = 500 * time.Millisecond

// FindAPI returns the base URL of the API that serves this home: that of the process
// running on it, or the configured one; empty if none answers. The default address is
// tried only if a process runs here, since it may belong to another home.
func FindAPI(ctx context.Context, cfg config.Config) string {
	info, err := ReadRun(cfg.DataDir())
	if err == nil && info.API != "" && answers(ctx, info.API) {
		return info.API
	}
	listen := cfg.Channels.HTTP.Listen
	if info.PID == 0 && cfg.Temporal.Address == "" && listen == config.Default(cfg.Home).Channels.HTTP.Listen {
		return ""
	}
	if url := ListenURL(listen); url != "" && answers(ctx, url) {
		return url
	}
	return ""
}

// ListenURL returns the URL of a local server by its listen address.
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

func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
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

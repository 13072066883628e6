package node

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/channels/webhook"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/health"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/starter"
	"github.com/holdfast-ai/holdfast/worker"
)

// Open opens everything that accepting a message needs, and prepares the rest, which
// [Node.Run] starts. The caller must call [Node.Close].
func Open(ctx context.Context, cfg config.Config, log *slog.Logger, r Roles) (_ *Node, err error) {
	n := &Node{Config: cfg, log: log, roles: r, Identity: NewIdentity(cfg.DataDir()), started: time.Now().UTC()}
	if !r.Private {
		n.metrics = NewMetrics(cfg)
	}
	n.health = health.Cached(n.checkHealth)
	defer func() {
		if err != nil {
			n.Close()
		}
	}()
	if err := hideEnvironment(); err != nil {
		return nil, fmt.Errorf("hide API keys from the agent's commands: %w", err)
	}
	if err := MakeDirs(cfg.DataDir(), cfg.Workspace); err != nil {
		return nil, err
	}
	if err := n.openChannels(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{
		n.openEngine, n.openParts, n.storeChannels, n.connect, n.newDispatcher, n.newJobs, n.newWorker, n.openStarter, n.serveMetrics, n.announce,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// MakeDirs creates missing directories, accessible to this user only.
func MakeDirs(dirs ...string) error {
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create %s (set HOLDFAST_HOME to use another home): %w", dir, err)
		}
	}
	return nil
}

// openEngine makes this process the owner of the engine's data.
func (n *Node) openEngine(ctx context.Context) (err error) {
	if !n.roles.Engine || n.Config.Temporal.Address != "" {
		return nil
	}
	if n.Engine, err = OpenEngine(ctx, n.Config, n.log, n.roles); err != nil {
		return err
	}
	n.onClose(n.stopEngine)
	n.onClose(func() { _ = os.Remove(RunFile(n.Config.DataDir())) })
	return nil
}

// openParts opens the independent parts concurrently.
func (n *Node) openParts(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return n.openStore(ctx) })
	group.Go(func() (err error) {
		n.Model, err = OpenModel(ctx, n.Config, n.log, n.metrics)
		return err
	})
	err := group.Wait()
	if n.Model.Close != nil {
		n.onClose(n.Model.Close)
	}
	return err
}

// connect prepares the connection to Temporal, which need not answer yet.
func (n *Node) connect(ctx context.Context) error {
	store, err := n.Store.ID(ctx)
	if err != nil {
		return err
	}
	options := dispatch.ConnectOptions{
		Config: n.Config.Temporal, Address: n.Config.Temporal.Address, Identity: n.Identity, Logger: n.log, Metrics: n.metrics.Temporal(),
		Store: store, Guard: n.Engine == nil, // an engine of our own may hold runs of a store that was lost
	}
	if n.Engine != nil {
		options.Dial = n.Engine.Dial
	}
	if n.Temporal, err = dispatch.Open(options); err == nil {
		n.onClose(n.Temporal.Close)
	}
	return err
}

// Connect connects a command to the Temporal at an address.
func Connect(ctx context.Context, cfg config.Config, address string, log *slog.Logger) (*dispatch.Client, error) {
	return dispatch.Connect(ctx, dispatch.ConnectOptions{
		Config: cfg.Temporal, Address: address, Identity: NewIdentity(cfg.DataDir()), Logger: log,
	})
}

func (n *Node) newWorker(context.Context) error {
	if !n.roles.Worker {
		return nil
	}
	outboxes := map[string]*activities.Outbox{}
	for name, channel := range n.push {
		outboxes[name] = activities.NewOutbox(n.Store, channel, n.Config.Workspace)
		outboxes[name].Metrics = n.metrics
	}
	agent, err := n.newAgent(outboxes) //nolint:contextcheck // the MCP servers outlive the start
	if err != nil {
		return err
	}
	options := worker.Options{Client: n.Temporal.SDK(), Agent: agent, Outboxes: outboxes, Names: n.Temporal.Names(), Config: n.Config.Worker}
	if n.Engine == nil {
		options.Silence = dispatch.PresenceLimit
	}
	n.worker, err = worker.New(options)
	return err
}

// newDispatcher creates the dispatcher, which signals messages to their sessions: those of
// users, and those that activities create.
func (n *Node) newDispatcher(context.Context) (err error) {
	n.dispatcher, err = dispatch.NewDispatcher(dispatch.Options{
		Client: n.Temporal, Store: n.Store, Events: n.Events, Model: n.Model.Title(), Logger: n.log,
		Limits: protocol.NewLimits(n.Config.Agent.MaxIterations, n.Config.Agent.SubagentMaxIterations),
	})
	return err
}

func (n *Node) openStarter(ctx context.Context) (err error) {
	if !n.roles.Starter {
		return nil
	}
	if n.Config.Channels.HTTP.Enabled || n.roles.Private {
		options := http.Options{
			Listen: n.Config.Channels.HTTP.Listen, Token: n.Config.Channels.HTTP.Token.Reveal(), Version: build.Version,
			Check: n.health, Pages: n.pages(), Logger: n.log,
		}
		if _, enabled := n.push[webhook.Name]; enabled {
			options.PushChannel = webhook.Name
			options.Endpoints = slices.Collect(maps.Keys(n.Config.Channels.Webhook.Endpoints))
		}
		if n.roles.Private {
			options.Listen = "127.0.0.1:0"
		}
		if n.http, err = http.New(options); err != nil { //nolint:contextcheck // the listener outlives the start
			return fmt.Errorf("open the API (channels.http.listen): %w", err)
		}
	}
	home, err := homeOptions(n.Config)
	if err != nil {
		return err
	}
	n.Starter, err = starter.New(starter.Options{
		Dispatcher: n.dispatcher, Store: n.Store, Events: n.Events, Logger: n.log, Names: n.Temporal.Names(),
		Steer: n.Config.Agent.MidTurn == config.MidTurnSteer, Metrics: n.metrics, Home: home,
	})
	return err
}

package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/starter"
	"github.com/holdfast-ai/holdfast/worker"
)

// Open starts everything except the receivers, which [Node.Run] runs. The caller
// must call [Node.Close].
func Open(ctx context.Context, cfg config.Config, log *slog.Logger, r Roles) (_ *Node, err error) {
	n := &Node{Config: cfg, log: log, roles: r, Identity: NewIdentity(cfg.DataDir())}
	if !r.Private {
		n.metrics = NewMetrics(cfg)
	}
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
	for _, step := range []func(context.Context) error{n.openParts, n.connect, n.recover, n.newDispatcher, n.newJobs, n.openWorker, n.openStarter, n.serveMetrics} {
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

// openParts opens the independent parts concurrently.
func (n *Node) openParts(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if n.ownsEngine() {
		group.Go(func() (err error) {
			n.Engine, err = OpenEngine(ctx, n.Config, n.log, n.roles.Private)
			return err
		})
	}
	group.Go(func() error { return n.openStore(ctx) })
	group.Go(func() (err error) {
		n.Model, err = OpenModel(ctx, n.Config, n.log, n.metrics)
		return err
	})
	err := group.Wait()
	// Closed in reverse order, after what uses them.
	if n.Engine != nil {
		n.onClose(n.stopEngine)
	}
	if n.Model.Close != nil {
		n.onClose(n.Model.Close)
	}
	return err
}

func (n *Node) connect(ctx context.Context) (err error) {
	address := n.Config.Temporal.Address
	if n.Engine != nil {
		address = n.Engine.Address()
	}
	if n.Temporal, err = dispatch.Connect(ctx, dispatch.ConnectOptions{
		Config: n.Config.Temporal, Address: address, Identity: n.Identity, Logger: n.log, Metrics: n.metrics.Temporal(),
	}); err != nil {
		return err
	}
	n.onClose(n.Temporal.Close)
	if n.Engine == nil && n.roles.Starter {
		return n.Temporal.RegisterSearchAttributes(ctx, n.log)
	}
	return nil
}

// Connect connects a command to the Temporal at an address.
func Connect(ctx context.Context, cfg config.Config, address string, log *slog.Logger) (*dispatch.Client, error) {
	return dispatch.Connect(ctx, dispatch.ConnectOptions{
		Config: cfg.Temporal, Address: address, Identity: NewIdentity(cfg.DataDir()), Logger: log,
	})
}

func (n *Node) openWorker(ctx context.Context) error {
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
	if n.worker, err = worker.New(worker.Options{Client: n.Temporal.SDK(), Agent: agent, Outboxes: outboxes}); err != nil {
		return err
	}
	if err := n.worker.Start(); err != nil { //nolint:contextcheck // the worker outlives the start
		return err
	}
	n.onClose(n.worker.Stop)
	return ctx.Err()
}

// newDispatcher creates the dispatcher, which signals messages to their sessions: those of
// users, and those that activities create.
func (n *Node) newDispatcher(context.Context) (err error) {
	n.dispatcher, err = dispatch.NewDispatcher(dispatch.Options{
		Client: n.Temporal, Store: n.Store, Events: n.Events, Model: n.Model.Title(), Logger: n.log,
		Limits: protocol.Limits{Steps: n.Config.Agent.MaxIterations, SubagentSteps: n.Config.Agent.SubagentMaxIterations},
	})
	return err
}

func (n *Node) openStarter(ctx context.Context) (err error) {
	if !n.roles.Starter {
		return nil
	}
	if n.Config.Channels.HTTP.Enabled || n.roles.Private {
		options := http.Options{
			Listen: n.Config.Channels.HTTP.Listen, Token: n.Config.Channels.HTTP.Token.Reveal(), Version: build.Version, Logger: n.log,
		}
		if n.roles.Private {
			options.Listen = "127.0.0.1:0"
		}
		if n.http, err = http.New(options); err != nil { //nolint:contextcheck // the listener outlives the start
			return fmt.Errorf("open the API (channels.http.listen): %w", err)
		}
	}
	n.Starter, err = starter.New(starter.Options{
		Dispatcher: n.dispatcher, Store: n.Store, Events: n.Events, Logger: n.log,
		Steer: n.Config.Agent.MidTurn == config.MidTurnSteer, Metrics: n.metrics,
	})
	if err != nil {
		return err
	}
	n.dispatcher.ReconcileAll(ctx)
	return nil
}

// Run runs the receivers until ctx ends or the engine stops.
func (n *Node) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if n.Engine != nil {
		go func() {
			select {
			case <-ctx.Done():
			case <-n.Engine.Done():
				cancel(fmt.Errorf("engine stopped: %w", n.Engine.Err()))
			}
		}()
	}
	if n.Commands != nil {
		go n.sweepCommands(ctx)
	}
	if n.roles.Starter && n.Config.Store.Retention > 0 {
		go n.sweepSessions(ctx)
	}
	if n.roles.Starter {
		go n.Jobs.Keep(ctx)
		var reconciling sync.WaitGroup
		defer reconciling.Wait()
		reconciling.Go(func() { n.dispatcher.Reconcile(ctx) })
		receivers := map[string]channels.Receiver{}
		for name, channel := range n.push {
			receivers[name] = channel
		}
		if n.http != nil {
			receivers[http.Name] = n.http
		}
		n.Starter.Run(ctx, receivers)
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

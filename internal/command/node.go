package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.temporal.io/sdk/client"
	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/engine"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
	"github.com/holdfast-ai/holdfast/starter"
	"github.com/holdfast-ai/holdfast/worker"
)

// roles say what a process is. Any mix works; `up` is all of them.
type roles struct {
	engine  bool // unless temporal.address names another
	worker  bool
	starter bool
	// private keeps the process to itself: free ports instead of the configured
	// ones, and no UI.
	private bool
	// push are channels besides those of the config, by name.
	push map[string]pushChannel
}

// node is what runs in this process.
type node struct {
	cfg      config.Config
	log      *slog.Logger
	roles    roles
	identity string
	metrics  *metrics.Metrics // nil: nothing is counted

	engine   *engine.Engine // nil when Temporal is elsewhere
	client   client.Client
	store    *store.Store
	events   event.Bus
	model    model
	worker   *worker.Worker
	commands *supervisor.Supervisor // what the agent's commands run under
	starter  *starter.Starter
	jobs     *schedule.Jobs
	http     *http.Channel
	scraped  *metrics.Server        // nil: metrics are not served
	push     map[string]pushChannel // by name

	closers []func() // the last is undone first
	leaving bool     // the process is about to end
}

// openNode starts everything but the receivers. The caller calls close, also
// after an error of run.
func openNode(ctx context.Context, cfg config.Config, log *slog.Logger, r roles) (_ *node, err error) {
	n := &node{cfg: cfg, log: log, roles: r, identity: newIdentity(cfg.DataDir())}
	if !r.private {
		n.metrics = newMetrics(cfg)
	}
	defer func() {
		if err != nil {
			n.close()
		}
	}()
	if err := hideEnvironment(); err != nil {
		return nil, fmt.Errorf("keep the agent's commands from reading our keys: %w", err)
	}
	if err := makeDirs(cfg.DataDir(), cfg.Workspace); err != nil {
		return nil, err
	}
	if err := n.openChannels(); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{n.openParts, n.connect, n.recover, n.newStarter, n.newJobs, n.openWorker, n.openStarter, n.serveMetrics} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// makeDirs makes folders of the home that are not there, for this user only.
func makeDirs(dirs ...string) error {
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make %s (HOLDFAST_HOME chooses another home): %w", dir, err)
		}
	}
	return nil
}

// openParts opens what does not depend on each other, side by side.
func (n *node) openParts(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	if n.ownsEngine() {
		group.Go(func() (err error) {
			n.engine, err = openEngine(ctx, n.cfg, n.log, n.roles.private)
			return err
		})
	}
	group.Go(func() error { return n.openStore(ctx) })
	group.Go(func() (err error) {
		n.model, err = openModel(ctx, n.cfg, n.log, n.metrics)
		return err
	})
	err := group.Wait()
	// Undone in this order, last first: what uses another goes before it.
	if n.engine != nil {
		n.onClose(n.stopEngine)
	}
	if n.model.close != nil {
		n.onClose(n.model.close)
	}
	return err
}

// stopEngine lets the engine's clients go, which takes a second. A process that is
// leaving has none, and its engine's data needs no goodbye.
func (n *node) stopEngine() {
	if n.leaving {
		go n.engine.Stop()
		return
	}
	n.engine.Stop()
}

func (n *node) ownsEngine() bool { return n.roles.engine && n.cfg.Temporal.Address == "" }

func openEngine(ctx context.Context, cfg config.Config, log *slog.Logger, private bool) (*engine.Engine, error) {
	options := engine.Options{
		DataDir: cfg.DataDir(), Port: cfg.Temporal.Port, UIPort: cfg.Temporal.UIPort,
		Namespace: cfg.Temporal.Namespace, Retention: cfg.Engine.Retention, Durability: cfg.Engine.Durability,
		SearchAttributes: searchAttributes(), Logger: log.With("component", "engine"),
	}
	if private {
		options.Port, options.UIPort = 0, -1
	}
	// A process that was killed a moment ago may not have let go yet.
	for deadline := time.Now().Add(lockPatience); ; {
		started, err := engine.Start(ctx, options)
		if !errors.Is(err, engine.ErrInUse) {
			return started, err
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return nil, inUse(cfg)
		}
		time.Sleep(lockLook)
	}
}

const (
	// lockPatience is how long we wait for a home that somebody else has.
	lockPatience = time.Second
	// lockLook is how often we try to get it.
	lockLook = 20 * time.Millisecond
)

// inUseError is [engine.ErrInUse], in words that help.
type inUseError struct {
	message string
}

// Error implements error.
func (e *inUseError) Error() string { return e.message }

// Unwrap returns [engine.ErrInUse].
func (e *inUseError) Unwrap() error { return engine.ErrInUse }

// inUse says who has the home.
func inUse(cfg config.Config) error {
	info, err := readRun(cfg.DataDir())
	if err != nil || info.PID == 0 {
		return &inUseError{cfg.Home + " is in use by another holdfast process"}
	}
	return &inUseError{fmt.Sprintf("holdfast runs already on %s: process %d, since %s, API %s, UI %s",
		cfg.Home, info.PID, info.StartedAt.Local().Format(time.DateTime), info.API, info.UI)}
}

func (n *node) openStore(ctx context.Context) (err error) {
	dsn := storeDSN(n.cfg)
	// A damaged page may be met only when a message is half way through.
	if _, err := store.Inspect(ctx, dsn); err != nil {
		return err
	}
	if n.store, err = store.Open(ctx, store.Options{DSN: dsn, Logger: n.log}); err != nil {
		return err
	}
	n.onClose(func() { _ = n.store.Close() })
	if !strings.HasPrefix(dsn, "postgres") {
		n.events = event.NewLocal()
		return nil
	}
	bus, err := event.NewPostgres(ctx, dsn, n.log)
	if err != nil {
		return fmt.Errorf("open the event bus: %w", err)
	}
	n.onClose(func() { _ = bus.Close() })
	n.events = bus
	return nil
}

func storeDSN(cfg config.Config) string {
	if dsn := cfg.Store.DSN.Reveal(); dsn != "" {
		return dsn
	}
	return filepath.Join(cfg.DataDir(), "store.db")
}

func (n *node) connect(ctx context.Context) (err error) {
	address := n.cfg.Temporal.Address
	if n.engine != nil {
		address = n.engine.Address()
	}
	if n.client, err = dial(ctx, n.cfg.Temporal, address, n.identity, n.log, n.metrics.Temporal()); err != nil {
		return err
	}
	n.onClose(n.client.Close)
	if n.engine == nil && n.roles.starter {
		return registerSearchAttributes(ctx, n.client, n.cfg.Temporal.Namespace, n.log)
	}
	return nil
}

func (n *node) openWorker(ctx context.Context) error {
	if !n.roles.worker {
		return nil
	}
	outboxes := map[string]*activities.Outbox{}
	for name, channel := range n.push {
		outboxes[name] = activities.NewOutbox(n.store, channel, n.cfg.Workspace)
		outboxes[name].Metrics = n.metrics
	}
	agent, err := n.newAgent(outboxes) //nolint:contextcheck // the MCP servers outlive the start
	if err != nil {
		return err
	}
	if n.worker, err = worker.New(worker.Options{Client: n.client, Agent: agent, Outboxes: outboxes}); err != nil {
		return err
	}
	if err := n.worker.Start(); err != nil {
		return err
	}
	n.onClose(n.worker.Stop)
	return ctx.Err()
}

// newStarter makes what brings messages to their sessions: those of users, and a
// worker's own.
func (n *node) newStarter(context.Context) (err error) {
	n.starter, err = starter.New(starter.Options{
		Client: n.client, Store: n.store, Events: n.events, Logger: n.log, Model: n.model.title(),
		Steps: n.cfg.Agent.MaxIterations, SubagentSteps: n.cfg.Agent.SubagentMaxIterations,
		Steer: n.cfg.Agent.MidTurn == config.MidTurnSteer, Metrics: n.metrics,
	})
	return err
}

func (n *node) openStarter(ctx context.Context) (err error) {
	if !n.roles.starter {
		return nil
	}
	if n.cfg.Channels.HTTP.Enabled || n.roles.private {
		options := http.Options{
			Listen: n.cfg.Channels.HTTP.Listen, Token: n.cfg.Channels.HTTP.Token.Reveal(), Version: version, Logger: n.log,
		}
		if n.roles.private {
			options.Listen = "127.0.0.1:0"
		}
		if n.http, err = http.New(options); err != nil { //nolint:contextcheck // the listener outlives the start
			return fmt.Errorf("open the API (channels.http.listen): %w", err)
		}
	}
	return n.starter.Recover(ctx)
}

// run runs the receivers until ctx ends or the engine dies.
func (n *node) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if n.engine != nil {
		go func() {
			select {
			case <-ctx.Done():
			case <-n.engine.Done():
				cancel(fmt.Errorf("the engine died: %w", n.engine.Err()))
			}
		}()
	}
	if n.commands != nil {
		go n.sweepCommands(ctx)
	}
	if n.roles.starter && n.cfg.Store.Retention > 0 {
		go n.sweepSessions(ctx)
	}
	if n.roles.starter {
		go n.jobs.Keep(ctx)
		receivers := map[string]channels.Receiver{}
		for name, channel := range n.push {
			receivers[name] = channel
		}
		if n.http != nil {
			receivers[http.Name] = n.http
		}
		if err := n.starter.Run(ctx, receivers); err != nil {
			return err
		}
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

const (
	// commandSweep is how often the files of old commands are removed.
	commandSweep = time.Hour
	// commandAge is how long they are kept: longer than a call is retried, which is
	// 30 days, since an attempt that does not find its command runs it.
	commandAge = 45 * 24 * time.Hour
)

// sweepCommands removes what is left of commands that ended long ago.
func (n *node) sweepCommands(ctx context.Context) {
	ticker := time.NewTicker(commandSweep)
	defer ticker.Stop()
	for {
		if _, err := n.commands.Sweep(commandAge); err != nil {
			n.log.Warn("old commands not removed", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// apiURL is the base of this process's HTTP API; empty if it has none.
func (n *node) apiURL() string {
	if n.http == nil {
		return ""
	}
	return "http://" + n.http.Addr().String()
}

func (n *node) onClose(f func()) { n.closers = append(n.closers, f) }

// close undoes what openNode did, the last first.
func (n *node) close() {
	for _, undo := range slices.Backward(n.closers) {
		undo()
	}
	n.closers = nil
}

// identityPrefix is shared by all the processes that ever owned a data folder's
// engine, and by no others.
func identityPrefix(data string) string {
	sum := sha256.Sum256([]byte(data))
	return "holdfast@" + hex.EncodeToString(sum[:4]) + "/"
}

// newIdentity names this process in histories: whose data, which process, since
// when, since process IDs come again.
func newIdentity(data string) string {
	return fmt.Sprintf("%s%d/%d", identityPrefix(data), os.Getpid(), time.Now().UnixMilli())
}

// Package node wires a Holdfast process: engine, store, model, tools, channels,
// worker and starter, as the config and the roles of the process say.
package node

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/engine"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/health"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool/mcp"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
	"github.com/holdfast-ai/holdfast/starter"
	"github.com/holdfast-ai/holdfast/worker"
)

// PushChannel is a channel that receives and sends.
type PushChannel interface {
	channels.Receiver
	channels.Sender
}

// Roles are the parts of Holdfast that a process runs, in any combination.
type Roles struct {
	Engine  bool // ignored if temporal.address names another
	Worker  bool
	Starter bool
	// Private uses free ports instead of the configured ones and serves no UI.
	Private bool
	// HistoryLimit is the engine's; see [engine.Options].
	HistoryLimit int
	// Push are channels in addition to those of the config, by name.
	Push map[string]PushChannel
}

// Node is a Holdfast process. Its exported fields are set by [Open] and read-only.
type Node struct {
	Config   config.Config
	Identity string         // of the process in workflow histories
	Engine   *engine.Engine // nil if Temporal runs elsewhere
	Temporal *dispatch.Client
	Store    *store.Store
	Events   event.Bus
	Model    Model
	Commands *supervisor.Supervisor // runs the agent's commands; nil without a worker
	Starter  *starter.Starter       // nil without that role
	Jobs     *schedule.Jobs

	log        *slog.Logger
	roles      Roles
	metrics    *metrics.Metrics // nil if metrics are off
	dispatcher *dispatch.Dispatcher
	worker     *worker.Worker
	servers    *mcp.Servers // nil without a worker, or if none are configured
	http       *http.Channel
	health     health.Check
	scraped    *metrics.Server        // nil if metrics are off
	push       map[string]PushChannel // by name

	started time.Time
	joined  atomic.Bool // see [Node.Run]
	closers []func()    // called in reverse order
	leaving bool        // the process is about to exit
}

// APIURL is the base URL of this process's HTTP API; empty if it has none.
func (n *Node) APIURL() string {
	if n.http == nil {
		return ""
	}
	return "http://" + n.http.Addr().String()
}

func (n *Node) onClose(f func()) { n.closers = append(n.closers, f) }

// Close stops and closes what Open started, in reverse order.
func (n *Node) Close() {
	for _, undo := range slices.Backward(n.closers) {
		undo()
	}
	n.closers = nil
}

// Leave says that the process is about to exit: Close need not wait for the engine.
func (n *Node) Leave() { n.leaving = true }

// Hurry makes a Close that drains its worker release what is left at once.
func (n *Node) Hurry() {
	if n.worker != nil {
		n.worker.Release()
	}
}

// MetricsURL is where Prometheus reads this process's metrics; empty if they are off.
func (n *Node) MetricsURL() string {
	if n.scraped == nil {
		return ""
	}
	return n.scraped.URL()
}

// announce tells other commands about this process, if it owns the engine.
func (n *Node) announce(context.Context) error {
	if n.Engine == nil {
		return nil
	}
	info := RunInfo{
		PID: os.Getpid(), Command: CommandUp, Identity: n.Identity, StartedAt: n.started, Version: build.Version,
		API: n.APIURL(), UI: n.Engine.UIURL(), Temporal: n.Engine.Address(),
	}
	if n.roles.Private {
		info.Command = CommandChat
	}
	return WriteRun(n.Config.DataDir(), info)
}

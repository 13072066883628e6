package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/engine"
)

// stopEngine stops the engine, which takes a second. A process that is exiting need not
// wait: it has no clients left, and the engine recovers from a crash.
func (n *Node) stopEngine() {
	if n.leaving {
		go n.Engine.Stop()
		return
	}
	n.Engine.Stop()
}

// OpenEngine opens the embedded engine on the data directory of cfg, for a
// process with these roles.
func OpenEngine(ctx context.Context, cfg config.Config, log *slog.Logger, r Roles) (*engine.Engine, error) {
	options := engine.Options{
		DataDir: cfg.DataDir(), Port: cfg.Temporal.Port, UIPort: cfg.Temporal.UIPort,
		Namespace: cfg.Temporal.Namespace, Retention: cfg.Engine.Retention, Durability: cfg.Engine.Durability,
		SearchAttributes: dispatch.SearchAttributes(), HistoryLimit: r.HistoryLimit, Logger: log.With("component", "engine"),
	}
	if r.Private {
		options.Port, options.UIPort = 0, -1
	}
	// A process that was just killed may still hold the lock.
	for deadline := time.Now().Add(lockTimeout); ; {
		opened, err := engine.Open(ctx, options)
		if !errors.Is(err, engine.ErrInUse) {
			return opened, err
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return nil, inUse(cfg)
		}
		time.Sleep(lockInterval)
	}
}

const (
	// lockTimeout bounds the wait for a home that another process holds.
	lockTimeout = time.Second
	// lockInterval is the time between attempts to get it.
	lockInterval = 20 * time.Millisecond
)

// inUseError is [engine.ErrInUse] with a message for the user.
type inUseError struct {
	message string
	serves  bool // it may serve an API, now or soon
}

// Error implements error.
func (e *inUseError) Error() string { return e.message }

// Unwrap returns [engine.ErrInUse].
func (e *inUseError) Unwrap() error { return engine.ErrInUse }

// inUse returns an error that names the process holding the home, and what to do.
func inUse(cfg config.Config) *inUseError {
	info, err := ReadRun(cfg.DataDir())
	if err != nil || !info.isRunning() {
		return &inUseError{message: cfg.Home + " is in use by another holdfast process that does not say which: end it, or wait until it has ended", serves: true}
	}
	who := fmt.Sprintf("`holdfast %s` is already running on %s: process %d, since %s", info.Command, cfg.Home, info.PID, info.StartedAt.Local().Format(time.DateTime))
	used := &inUseError{serves: true}
	switch info.Command {
	case CommandChat:
		used.message = who + "; leave that chat first. Until then it runs everything, and other chats and commands use it"
	case CommandEngine:
		used.message = who + "; run `holdfast starter` and `holdfast worker` beside it, or end it first"
		used.serves = false
	default:
		used.message = fmt.Sprintf("%s, API %s, UI %s; use it with `holdfast chat`, or end it first", who, info.API, info.UI)
	}
	return used
}

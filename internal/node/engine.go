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

func (n *Node) ownsEngine() bool { return n.roles.Engine && n.Config.Temporal.Address == "" }

// OpenEngine starts the embedded engine on the data directory of cfg. A private one gets a
// free port and no UI.
func OpenEngine(ctx context.Context, cfg config.Config, log *slog.Logger, private bool) (*engine.Engine, error) {
	options := engine.Options{
		DataDir: cfg.DataDir(), Port: cfg.Temporal.Port, UIPort: cfg.Temporal.UIPort,
		Namespace: cfg.Temporal.Namespace, Retention: cfg.Engine.Retention, Durability: cfg.Engine.Durability,
		SearchAttributes: dispatch.SearchAttributes(), Logger: log.With("component", "engine"),
	}
	if private {
		options.Port, options.UIPort = 0, -1
	}
	// A process that was just killed may still hold the lock.
	for deadline := time.Now().Add(lockTimeout); ; {
		started, err := engine.Start(ctx, options)
		if !errors.Is(err, engine.ErrInUse) {
			return started, err
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
}

// Error implements error.
func (e *inUseError) Error() string { return e.message }

// Unwrap returns [engine.ErrInUse].
func (e *inUseError) Unwrap() error { return engine.ErrInUse }

// inUse returns an error that names the process holding the home.
func inUse(cfg config.Config) error {
	info, err := ReadRun(cfg.DataDir())
	if err != nil || info.PID == 0 {
		return &inUseError{cfg.Home + " is in use by another holdfast process"}
	}
	return &inUseError{fmt.Sprintf("holdfast is already running on %s: process %d, since %s, API %s, UI %s",
		cfg.Home, info.PID, info.StartedAt.Local().Format(time.DateTime), info.API, info.UI)}
}

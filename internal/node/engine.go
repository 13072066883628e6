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

// stopEngine lets the engine's clients go, which takes a second. A process that is
// leaving has none, and its engine's data needs no goodbye.
func (n *Node) stopEngine() {
	if n.leaving {
		go n.Engine.Stop()
		return
	}
	n.Engine.Stop()
}

func (n *Node) ownsEngine() bool { return n.roles.Engine && n.Config.Temporal.Address == "" }

func OpenEngine(ctx context.Context, cfg config.Config, log *slog.Logger, private bool) (*engine.Engine, error) {
	options := engine.Options{
		DataDir: cfg.DataDir(), Port: cfg.Temporal.Port, UIPort: cfg.Temporal.UIPort,
		Namespace: cfg.Temporal.Namespace, Retention: cfg.Engine.Retention, Durability: cfg.Engine.Durability,
		SearchAttributes: dispatch.SearchAttributes(), Logger: log.With("component", "engine"),
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
	info, err := ReadRun(cfg.DataDir())
	if err != nil || info.PID == 0 {
		return &inUseError{cfg.Home + " is in use by another holdfast process"}
	}
	return &inUseError{fmt.Sprintf("holdfast runs already on %s: process %d, since %s, API %s, UI %s",
		cfg.Home, info.PID, info.StartedAt.Local().Format(time.DateTime), info.API, info.UI)}
}

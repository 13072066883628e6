package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/node"
)

// runs are the runs of a Temporal namespace.
type runs struct {
	temporal  *dispatch.Client
	namespace string
	ui        string // URL of the embedded engine's UI, if any
}

// withRuns calls f with the runs of the configured Temporal, or of the engine that runs
// on this home.
func withRuns(ctx context.Context, env environment, f func(runs) error) error {
	cfg, log, err := env.load(io.Discard)
	if err != nil {
		return err
	}
	address := cfg.Temporal.Address
	if address == "" {
		if address, err = runningEngine(cfg); err != nil {
			return err
		}
		if !node.Listens(ctx, address) {
			return fmt.Errorf("the engine of %s is not reachable at %s: start it with `holdfast up`", cfg.Home, address)
		}
	}
	connected, err := node.Connect(ctx, cfg, address, log)
	if err != nil {
		return err
	}
	defer connected.Close()
	return f(runs{temporal: connected, namespace: cfg.Temporal.Namespace, ui: runningUI(ctx, cfg)})
}

// uiLink is the page of a run in the UI; without a run ID, of the latest run.
func uiLink(ui, namespace, id, run string) string {
	link := ui + "/namespaces/" + url.PathEscape(namespace) + "/workflows/" + url.PathEscape(id)
	if run != "" {
		link += "/" + url.PathEscape(run) + "/history"
	}
	return link
}

// find finds a run by its workflow ID or its session's key; an empty runID is the latest.
func (r runs) find(ctx context.Context, id, runID string) (dispatch.Run, error) {
	run, err := r.temporal.Run(ctx, id, runID)
	if errors.Is(err, dispatch.ErrNoRun) {
		return run, fmt.Errorf("run %s not found; `holdfast sessions list` and the Temporal UI list them: %w", oneLine(id, keyLimit), err)
	}
	return run, err
}

// runningEngine is the address of the engine that runs on this home.
func runningEngine(cfg config.Config) (string, error) {
	info, err := node.ReadRun(cfg.DataDir())
	if err != nil {
		return "", err
	}
	if info.Temporal == "" {
		return "", errors.New("no Temporal to connect to: set temporal.address, or start one with `holdfast engine` or `holdfast up`")
	}
	return info.Temporal, nil
}

// runningUI is the URL of the UI that runs on this home; empty if none does.
func runningUI(ctx context.Context, cfg config.Config) string {
	if cfg.Temporal.Address != "" {
		return ""
	}
	info, err := node.ReadRun(cfg.DataDir())
	if err != nil || info.UI == "" || !node.Listens(ctx, strings.TrimPrefix(info.UI, "http://")) {
		return ""
	}
	return info.UI
}

package command

import (
	"context"
	"errors"
	"strings"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/node"
)

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

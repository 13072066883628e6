package command

import (
	"context"
	"fmt"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// withJobs calls f with the jobs of the running Temporal.
func withJobs(ctx context.Context, env environment, f func(config.Config, *schedule.Jobs) error) error {
	return withRuns(ctx, env, func(r runs) error {
		return withStore(ctx, env, func(cfg config.Config, stored *store.Store) error {
			if !hasStore(cfg) {
				return fmt.Errorf("%s has no store yet: start Holdfast with `holdfast up`", cfg.Home)
			}
			return f(cfg, schedule.New(node.Scheduling(cfg, schedule.Options{Client: r.temporal, Store: stored})))
		})
	})
}

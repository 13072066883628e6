package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// jobChangeCommands are the commands that take a job ID.
func jobChangeCommands(env environment) []*cobra.Command {
	var all []*cobra.Command
	for _, change := range []struct {
		name, short, done string
		do                func(context.Context, *schedule.Jobs, string) error
	}{
		{"pause", "Pause a job", "paused", func(ctx context.Context, jobs *schedule.Jobs, id string) error { return jobs.Pause(ctx, id, true) }},
		{"resume", "Resume a paused job", "resumed", func(ctx context.Context, jobs *schedule.Jobs, id string) error { return jobs.Pause(ctx, id, false) }},
		{"run", "Run a job now, in addition to its schedule", "started", func(ctx context.Context, jobs *schedule.Jobs, id string) error { return jobs.Run(ctx, id) }},
		{"rm", "Remove a job", "removed", func(ctx context.Context, jobs *schedule.Jobs, id string) error { return jobs.Remove(ctx, id) }},
	} {
		all = append(all, newCommand(change.name+" ID", change.short, func(cmd *cobra.Command, args []string) error {
			return withJobs(cmd.Context(), env, func(_ config.Config, jobs *schedule.Jobs) error {
				return changeJob(cmd.OutOrStdout(), args[0], change.done, change.do(cmd.Context(), jobs, args[0]))
			})
		}))
	}
	return all
}

// changeJob prints the outcome of a change.
func changeJob(w io.Writer, id, done string, err error) error {
	if errors.Is(err, domain.ErrNotFound) {
		return fmt.Errorf("job %s not found; see `holdfast jobs list`", oneLine(id, keyLimit))
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "%s %s\n", done, id)
	}
	return err
}

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

package command

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/node"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// withJobs calls f with the jobs of the Temporal that runs.
func withJobs(ctx context.Context, s setting, f func(config.Config, *schedule.Jobs) error) error {
	r, err := openRuns(ctx, s)
	if err != nil {
		return err
	}
	defer r.temporal.Close()
	return withStore(ctx, s, func(cfg config.Config, stored *store.Store) error {
		if stored == nil {
			return fmt.Errorf("there is no store under %s: start Holdfast with `holdfast up`", cfg.Home)
		}
		return f(cfg, schedule.New(node.Scheduling(cfg, schedule.Options{Client: r.temporal, Store: stored})))
	})
}

// jobFlags are what `jobs add` is told.
type jobFlags struct {
	request               schedule.Request
	channel, chat, thread string
}

func jobsAddCommand(s setting) *cobra.Command {
	var flags jobFlags
	cmd := &cobra.Command{
		Use:   "add --message TEXT (--at TIME | --every DURATION | --cron EXPRESSION)",
		Short: "Add a job",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withJobs(cmd.Context(), s, func(cfg config.Config, jobs *schedule.Jobs) error {
				job, err := flags.job(cmd.Context(), cfg)
				if err != nil {
					return err
				}
				if job, err = jobs.Add(cmd.Context(), job, ""); err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "added %s: %s, next %s\n", job.ID, schedule.When(job), schedule.Stamp(job, schedule.Next(job, time.Now())))
				return err
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&flags.request.Message, "message", "m", "", "what is to be done when the job is due")
	f.StringVar(&flags.request.Name, "name", "", "a few words by which it is recognised")
	f.StringVar(&flags.request.At, "at", "", "once: a time such as 2026-03-04T15:30:00+01:00")
	f.DurationVar(&flags.request.Every, "every", 0, "again and again: a duration such as 2h")
	f.StringVar(&flags.request.Cron, "cron", "", `by the calendar: five fields such as "0 9 * * 1-5"`)
	f.StringVar(&flags.request.Zone, "tz", "", "the time zone of --at and --cron, such as Europe/Berlin (default: this machine's)")
	f.StringVar(&flags.channel, "channel", "", "where its replies are sent: slack (default: nowhere; jobs list shows the last)")
	f.StringVar(&flags.chat, "chat", "", "Slack's ID of the channel or direct message there, such as C012ABC")
	f.StringVar(&flags.thread, "thread", "", "Slack's ID of the thread there, such as 1712345678.123456 (default: none)")
	return cmd
}

// job is the job that is to be added.
func (f jobFlags) job(ctx context.Context, cfg config.Config) (domain.Job, error) {
	f.request.Now = time.Now()
	job, err := schedule.Parse(f.request)
	if err != nil {
		return domain.Job{}, err
	}
	job.ID, job.SenderName, job.Session = domain.ShortID(rand.Text()), operator, "cli"
	if job.Route, err = f.route(ctx, cfg); err != nil {
		return domain.Job{}, err
	}
	if job.Route.Push {
		job.Session = domain.SessionKey(job.Route.Channel, job.Route.Chat, job.Route.Thread)
	}
	return job, nil
}

// jobChangeCommands are those that take a job's ID.
func jobChangeCommands(s setting) []*cobra.Command {
	var all []*cobra.Command
	for _, change := range []struct {
		name, short, done string
		do                func(context.Context, *schedule.Jobs, string) error
	}{
		{"pause", "Have a job not run until it is resumed", "paused", func(ctx context.Context, jobs *schedule.Jobs, id string) error { return jobs.Pause(ctx, id, true) }},
		{"resume", "Have a paused job run again", "resumed", func(ctx context.Context, jobs *schedule.Jobs, id string) error { return jobs.Pause(ctx, id, false) }},
		{"run", "Have a job run now, besides its times", "started", func(ctx context.Context, jobs *schedule.Jobs, id string) error { return jobs.Run(ctx, id) }},
		{"rm", "Remove a job", "removed", func(ctx context.Context, jobs *schedule.Jobs, id string) error { return jobs.Remove(ctx, id) }},
	} {
		all = append(all, &cobra.Command{
			Use:   change.name + " ID",
			Short: change.short,
			Args:  cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				return withJobs(cmd.Context(), s, func(_ config.Config, jobs *schedule.Jobs) error {
					return changeJob(cmd.OutOrStdout(), args[0], change.done, change.do(cmd.Context(), jobs, args[0]))
				})
			},
		})
	}
	return all
}

// changeJob says what came of a change.
func changeJob(w io.Writer, id, done string, err error) error {
	if errors.Is(err, domain.ErrNotFound) {
		return fmt.Errorf("there is no job %s; see `holdfast jobs list`", oneLine(id, keyLimit))
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "%s %s\n", done, id)
	}
	return err
}

package command

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/tool/schedule"
)

// jobFlags are the flags of `jobs add`.
type jobFlags struct {
	request               schedule.Request
	channel, chat, thread string
}

func jobsAddCommand(env environment) *cobra.Command {
	var flags jobFlags
	cmd := newCommand("add --message TEXT (--at TIME | --every DURATION | --cron EXPRESSION)", "Add a scheduled prompt", func(cmd *cobra.Command, _ []string) error {
		return withJobs(cmd.Context(), env, func(cfg config.Config, jobs *schedule.Jobs) error {
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
	})
	f := cmd.Flags()
	f.StringVarP(&flags.request.Message, "message", "m", "", "prompt to run")
	f.StringVar(&flags.request.Name, "name", "", "short name")
	f.StringVar(&flags.request.At, "at", "", "run once, at a time such as 2026-03-04T15:30:00+01:00")
	f.Var((*durationFlag)(&flags.request.Every), "every", "run repeatedly, at an interval such as 2h or 1d")
	f.StringVar(&flags.request.Cron, "cron", "", `run by a cron expression of five fields, such as "0 9 * * 1-5"`)
	f.StringVar(&flags.request.Zone, "tz", "", "time zone of --at and --cron, such as Europe/Berlin (default: this machine's)")
	f.StringVar(&flags.channel, "channel", "", "send replies to this `channel`: slack (default: none; jobs list shows the last reply)")
	f.StringVar(&flags.chat, "chat", "", "Slack ID of the channel or direct message, such as C012ABC")
	f.StringVar(&flags.thread, "thread", "", "Slack ID of the thread, such as 1712345678.123456 (default: none)")
	return cmd
}

// durationFlag is a duration in the form of the config's, which has days.
type durationFlag time.Duration

// Set implements pflag.Value.
func (d *durationFlag) Set(text string) error {
	parsed, err := config.ParseDuration(text)
	*d = durationFlag(parsed)
	return err
}

// String implements pflag.Value.
func (d *durationFlag) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// Type implements pflag.Value.
func (*durationFlag) Type() string { return "duration" }

// job returns the job to add.
func (f jobFlags) job(ctx context.Context, cfg config.Config) (domain.Job, error) {
	f.request.Now = time.Now()
	job, err := schedule.Parse(f.request)
	if err != nil {
		return domain.Job{}, err
	}
	job.ID, job.SenderName, job.Session = domain.ShortID(rand.Text()), operator, "cli"
	if job.Route, err = jobRoute(ctx, cfg, f.channel, f.chat, f.thread); err != nil {
		return domain.Job{}, err
	}
	if job.Route.Push {
		job.Session = domain.SessionKey(job.Route.Channel, job.Route.Chat, job.Route.Thread)
	}
	return job, nil
}

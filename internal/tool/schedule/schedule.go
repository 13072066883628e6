// Package schedule manages jobs, which are prompts that run at scheduled times, and
// is the agent's cron tool. A job's row in the store comes first; [Jobs.Keep] creates
// missing Temporal Schedules and deletes those of jobs that have ended.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// Limit is the maximum number of jobs of a conversation.
const Limit = 100

// Options configure [Jobs]. Client and Store are required.
type Options struct {
	Client    *dispatch.Client
	Store     *store.Store
	CatchUp   time.Duration // how late a recurring job may run after a downtime
	Overlap   string
	Shortest  time.Duration // the shortest interval that the agent may ask for
	Heartbeat time.Duration // its interval; 0: disabled
	// IsOperator reports whether the sender of a route sees all jobs; nil: no sender does.
	IsOperator func(domain.Route) bool
	Logger     *slog.Logger
}

// Jobs adds, changes and removes jobs. Safe for concurrent use.
type Jobs struct {
	o   Options
	log *slog.Logger
}

// New returns the jobs of a store and a Temporal namespace.
func New(o Options) *Jobs {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Jobs{o: o, log: o.Logger}
}

// Add stores a job and creates its schedule. Turn is the turn that adds it; empty if
// the job has a route. An existing job with the same ID is returned unchanged.
func (j *Jobs) Add(ctx context.Context, job domain.Job, turn string) (domain.Job, error) {
	stored, err := j.o.Store.AddJob(ctx, job, turn, Limit)
	if errors.Is(err, store.ErrTooMany) {
		return domain.Job{}, fmt.Errorf("this conversation already has %d jobs; remove some first: %w", Limit, err)
	}
	if err != nil {
		return domain.Job{}, err
	}
	return stored, j.ensure(ctx, stored)
}

// Remove ends a job. If its schedule cannot be deleted now, Keep deletes it later.
// ErrNotFound if there is no active job with this ID.
func (j *Jobs) Remove(ctx context.Context, id string) error {
	if err := j.o.Store.RemoveJob(ctx, id); err != nil {
		return err
	}
	if err := j.unschedule(ctx, id); err != nil {
		j.log.Warn("schedule of a removed job not deleted yet", "job", id, "err", err)
	}
	return nil
}

// Pause pauses a job or resumes it. Occurrences that passed meanwhile are skipped,
// except that a one-time job runs when it is resumed. ErrNotFound if there is no
// active job with this ID.
func (j *Jobs) Pause(ctx context.Context, id string, paused bool) error {
	if err := j.o.Store.PauseJob(ctx, id, paused); err != nil {
		return err
	}
	job, err := j.o.Store.Job(ctx, id)
	if err != nil {
		return err
	}
	if err := j.ensure(ctx, job); err != nil {
		return err
	}
	if err := j.o.Client.PauseSchedule(ctx, id, paused); err != nil {
		return fmt.Errorf("pause the schedule of job %s: %w", id, err)
	}
	if missed := job.Kind == domain.JobAt && !due(job).After(time.Now()); missed && !paused {
		return j.trigger(ctx, id, config.OverlapSkip)
	}
	return nil
}

// Run runs a job now, even if it is paused. ErrNotFound if there is no active job
// with this ID.
func (j *Jobs) Run(ctx context.Context, id string) error {
	job, err := j.o.Store.Job(ctx, id)
	if err == nil && !job.EndedAt.IsZero() {
		err = domain.ErrNotFound
	}
	if err != nil {
		return err
	}
	if err := j.ensure(ctx, job); err != nil {
		return err
	}
	return j.trigger(ctx, id, config.OverlapAllow)
}

func (j *Jobs) trigger(ctx context.Context, id string, overlap string) error {
	if err := j.o.Client.TriggerSchedule(ctx, id, overlap); err != nil {
		return fmt.Errorf("run job %s: %w", id, err)
	}
	return nil
}

// overdueAfter is how late a one-time job may be before we trigger it. Temporal
// usually runs a missed one itself.
const overdueAfter = 30 * time.Second

// ensure creates a job's schedule unless it exists. A one-time job whose time has
// passed runs immediately.
func (j *Jobs) ensure(ctx context.Context, job domain.Job) error {
	if !job.EndedAt.IsZero() {
		return nil
	}
	s := j.schedule(job)
	late := time.Since(due(job))
	s.Trigger = job.Kind == domain.JobAt && !job.Paused && late > 0
	err := j.o.Client.CreateSchedule(ctx, s)
	switch {
	case errors.Is(err, dispatch.ErrScheduleExists):
		if err = nil; s.Trigger && late > overdueAfter {
			err = j.trigger(ctx, job.ID, config.OverlapSkip)
		}
	case errors.Is(err, dispatch.ErrInvalidSchedule):
		if removed := j.o.Store.RemoveJob(ctx, job.ID); removed != nil {
			return removed
		}
	}
	if err != nil {
		return fmt.Errorf("schedule job %s: %w", job.ID, err)
	}
	if job.Scheduled {
		return nil
	}
	return j.o.Store.ScheduledJob(ctx, job.ID, true)
}

// unschedule deletes the schedule of a job.
func (j *Jobs) unschedule(ctx context.Context, id string) error {
	if err := j.delete(ctx, id); err != nil {
		return err
	}
	return j.o.Store.ScheduledJob(ctx, id, false)
}

func (j *Jobs) delete(ctx context.Context, id string) error {
	if err := j.o.Client.DeleteSchedule(ctx, id); err != nil {
		return fmt.Errorf("delete the schedule of job %s: %w", id, err)
	}
	return nil
}

// unlimited is the catch-up window of one-time jobs, Temporal's maximum.
const unlimited = 365 * 24 * time.Hour

// schedule is a job's schedule.
func (j *Jobs) schedule(job domain.Job) dispatch.Schedule {
	s := dispatch.Schedule{
		Job: job.ID, Title: title(job), Channel: job.Route.Channel, Session: job.RunsIn(), Sender: job.Route.Sender,
		Overlap: j.o.Overlap, CatchUp: j.o.CatchUp, Paused: job.Paused,
	}
	switch job.Kind {
	case domain.JobAt:
		s.At = due(job)
		s.Overlap, s.CatchUp = config.OverlapSkip, unlimited
	case domain.JobEvery:
		s.Every = interval(job)
		// Temporal counts intervals from 1970, people from when they asked.
		s.Offset = time.Duration(job.CreatedAt.Unix()%int64(s.Every/time.Second)) * time.Second
	default:
		s.Cron, s.Zone = expressions(job.Spec), cronZone(job)
	}
	return s
}

// cronZone is the time zone in which Temporal reads a cron expression. An expression
// for every hour is read in UTC: in other zones Temporal may skip an hour that the
// clock shows twice.
func cronZone(job domain.Job) string {
	zone := zoneOf(job)
	whole := offset(job.CreatedAt, zone)%time.Hour == 0 && offset(job.CreatedAt.AddDate(0, 6, 0), zone)%time.Hour == 0
	if strings.HasSuffix(job.Spec, " * * * *") && whole {
		return "UTC"
	}
	return job.Zone
}

// title is the title of a job's runs in the UI: job stand-up: "remind the team…".
func title(job domain.Job) string {
	prompt := text.Cut(text.Line(job.Message), 120)
	return text.Cut(fmt.Sprintf("job %s: %q", job.Label(), prompt), 240)
}

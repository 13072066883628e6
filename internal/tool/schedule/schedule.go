// Package schedule keeps jobs: prompts that are run at times, each by a Temporal
// Schedule. It is also the agent's cron tool. A job's row in the store comes first;
// [Jobs.Keep] makes schedules for rows that have none, and deletes those of jobs
// that have ended.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// Limit is how many jobs a conversation may have.
const Limit = 100

// ErrRefused is wrapped by errors that say why Temporal does not take a schedule.
var ErrRefused = errors.New("refused by Temporal")

// Overlap says what happens when a job is due and its last run is still at work.
type Overlap string

// The ways to overlap.
const (
	OverlapSkip  Overlap = "skip"  // it is left out
	OverlapQueue Overlap = "queue" // it waits
	OverlapAllow Overlap = "allow" // it runs beside it
)

// Options are what [Jobs] works with. Client and Store are required.
type Options struct {
	Client    client.Client
	Store     *store.Store
	CatchUp   time.Duration // how late a recurring job may run, after we were down
	Overlap   Overlap
	Shortest  time.Duration // the shortest interval that the agent may ask for
	Heartbeat time.Duration // how often it comes; 0: never
	// IsOperator reports whether who wrote by this route sees everybody's jobs;
	// nil: nobody does.
	IsOperator func(store.Route) bool
	Logger     *slog.Logger
}

// Jobs makes, changes and ends jobs. Safe for concurrent use.
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

// Add stores a job and makes its schedule. Turn is the one that makes it; empty:
// the job has a route. One that is there, by its ID, is returned as it is.
func (j *Jobs) Add(ctx context.Context, job store.Job, turn string) (store.Job, error) {
	stored, err := j.o.Store.AddJob(ctx, job, turn, Limit)
	if errors.Is(err, store.ErrTooMany) {
		return store.Job{}, fmt.Errorf("there are %d jobs here already; remove some first: %w", Limit, err)
	}
	if err != nil {
		return store.Job{}, err
	}
	return stored, j.ensure(ctx, stored)
}

// Remove ends a job. That its schedule cannot be deleted now is left to Keep.
// ErrNotFound if no such job goes on.
func (j *Jobs) Remove(ctx context.Context, id string) error {
	if err := j.o.Store.RemoveJob(ctx, id); err != nil {
		return err
	}
	if err := j.unschedule(ctx, id); err != nil {
		j.log.Warn("schedule of a removed job not deleted yet", "job", id, "err", err)
	}
	return nil
}

// Pause has a job not run, or run again. Times that passed while it was paused are
// left out; a job for one time runs at once if that has passed. ErrNotFound if no
// such job goes on.
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
	handle := j.handle(ctx, id)
	if paused {
		err = handle.Pause(ctx, client.SchedulePauseOptions{Note: "paused in Holdfast"})
	} else {
		err = handle.Unpause(ctx, client.ScheduleUnpauseOptions{Note: "resumed in Holdfast"})
	}
	if err != nil {
		return fmt.Errorf("pause the schedule of job %s: %w", id, err)
	}
	if missed := job.Kind == store.JobAt && !due(job).After(time.Now()); missed && !paused {
		return j.trigger(ctx, id, enumspb.SCHEDULE_OVERLAP_POLICY_SKIP)
	}
	return nil
}

// Run has a job run now, also while it is paused. ErrNotFound if no such job goes on.
func (j *Jobs) Run(ctx context.Context, id string) error {
	job, err := j.o.Store.Job(ctx, id)
	if err == nil && !job.EndedAt.IsZero() {
		err = store.ErrNotFound
	}
	if err != nil {
		return err
	}
	if err := j.ensure(ctx, job); err != nil {
		return err
	}
	return j.trigger(ctx, id, enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL)
}

func (j *Jobs) trigger(ctx context.Context, id string, overlap enumspb.ScheduleOverlapPolicy) error {
	if err := j.handle(ctx, id).Trigger(ctx, client.ScheduleTriggerOptions{Overlap: overlap}); err != nil {
		return fmt.Errorf("run job %s: %w", id, err)
	}
	return nil
}

func (j *Jobs) handle(ctx context.Context, id string) client.ScheduleHandle {
	return j.o.Client.ScheduleClient().GetHandle(ctx, protocol.JobWorkflowID(id))
}

// overdueAfter is how late a job for a time is before it is run from here: usually
// Temporal does so at once.
const overdueAfter = 30 * time.Second

// ensure makes a job's schedule if there is none. A job whose time has passed while
// there was none is run at once.
func (j *Jobs) ensure(ctx context.Context, job store.Job) error {
	if !job.EndedAt.IsZero() {
		return nil
	}
	options := j.options(job)
	late := time.Since(due(job))
	options.TriggerImmediately = job.Kind == store.JobAt && !job.Paused && late > 0
	_, err := j.o.Client.ScheduleClient().Create(ctx, options)
	switch {
	case errors.Is(err, temporal.ErrScheduleAlreadyRunning):
		if err = nil; options.TriggerImmediately && late > overdueAfter {
			err = j.trigger(ctx, job.ID, enumspb.SCHEDULE_OVERLAP_POLICY_SKIP)
		}
	case isInvalid(err):
		if removed := j.o.Store.RemoveJob(ctx, job.ID); removed != nil {
			return removed
		}
		return fmt.Errorf("schedule job %s: %w: %w", job.ID, ErrRefused, err)
	}
	if err != nil {
		return fmt.Errorf("schedule job %s: %w", job.ID, err)
	}
	if job.Scheduled {
		return nil
	}
	return j.o.Store.ScheduledJob(ctx, job.ID, true)
}

func isInvalid(err error) bool {
	_, is := errors.AsType[*serviceerror.InvalidArgument](err)
	return is
}

// unschedule deletes the schedule of a job.
func (j *Jobs) unschedule(ctx context.Context, id string) error {
	if err := j.delete(ctx, id); err != nil {
		return err
	}
	return j.o.Store.ScheduledJob(ctx, id, false)
}

func (j *Jobs) delete(ctx context.Context, id string) error {
	err := j.handle(ctx, id).Delete(ctx)
	if _, missing := errors.AsType[*serviceerror.NotFound](err); missing || err == nil {
		return nil
	}
	return fmt.Errorf("delete the schedule of job %s: %w", id, err)
}

// forever is a catch-up window that a job for a time does not miss: Temporal's own.
const forever = 365 * 24 * time.Hour

// options are a job's schedule.
func (j *Jobs) options(job store.Job) client.ScheduleOptions {
	o := client.ScheduleOptions{
		ID: protocol.JobWorkflowID(job.ID), Spec: spec(job), Paused: job.Paused,
		Action:        action(job),
		Overlap:       overlaps[j.o.Overlap],
		CatchupWindow: j.o.CatchUp,
		Note:          title(job),
	}
	if job.Kind == store.JobAt {
		o.Overlap, o.CatchupWindow, o.RemainingActions = enumspb.SCHEDULE_OVERLAP_POLICY_SKIP, forever, 1
	}
	return o
}

var overlaps = map[Overlap]enumspb.ScheduleOverlapPolicy{
	OverlapSkip:  enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
	OverlapQueue: enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL,
	OverlapAllow: enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
}

// spec says when a job is due.
func spec(job store.Job) client.ScheduleSpec {
	switch job.Kind {
	case store.JobAt:
		return client.ScheduleSpec{Calendars: []client.ScheduleCalendarSpec{exactly(due(job), "")}}
	case store.JobEvery:
		every := interval(job)
		// Temporal counts from 1970, people from when they asked.
		phase := time.Duration(job.CreatedAt.Unix()%int64(every/time.Second)) * time.Second
		return client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: every, Offset: phase}}}
	default:
		return client.ScheduleSpec{CronExpressions: expressions(job.Spec), TimeZoneName: cronZone(job), Calendars: gaps(job)}
	}
}

// cronZone is the zone that Temporal is to see a cron expression in. What goes
// through all hours needs none: in one whose clocks go back, Temporal may leave out
// an hour that they show twice.
func cronZone(job store.Job) string {
	zone := zoneOf(job)
	whole := offset(job.CreatedAt, zone)%time.Hour == 0 && offset(job.CreatedAt.AddDate(0, 6, 0), zone)%time.Hour == 0
	if strings.HasSuffix(job.Spec, " * * * *") && whole {
		return "UTC"
	}
	return job.Zone
}

// workflowTaskTimeout is after how long a workflow task whose worker died is given
// to another.
const workflowTaskTimeout = 5 * time.Second

// action starts a run of a job.
func action(job store.Job) *client.ScheduleWorkflowAction {
	return &client.ScheduleWorkflowAction{
		ID: protocol.JobWorkflowID(job.ID), Workflow: protocol.JobWorkflow, Args: []any{protocol.JobInput{ID: job.ID}},
		TaskQueue: protocol.AgentQueue, WorkflowTaskTimeout: workflowTaskTimeout, StaticSummary: title(job),
		TypedSearchAttributes: temporal.NewSearchAttributes(
			temporal.NewSearchAttributeKeyKeyword(protocol.SearchChannel).ValueSet(job.Route.Channel),
			temporal.NewSearchAttributeKeyKeyword(protocol.SearchSession).ValueSet(protocol.Cut(job.RunsIn(), 255)),
			temporal.NewSearchAttributeKeyKeyword(protocol.SearchSender).ValueSet(protocol.Cut(job.Route.Sender, 255)),
		),
	}
}

// title is what the UI calls a job's runs: job stand-up: "remind the team…".
func title(job store.Job) string {
	prompt := protocol.Cut(strings.Join(strings.Fields(job.Message), " "), 120)
	return protocol.Cut(fmt.Sprintf("job %s: %q", job.Label(), prompt), 240)
}

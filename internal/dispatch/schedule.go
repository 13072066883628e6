package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

var (
	// ErrScheduleExists is returned by [Client.CreateSchedule] if the job has a schedule.
	ErrScheduleExists = errors.New("the schedule already exists")
	// ErrInvalidSchedule is wrapped by errors about schedules that Temporal refuses.
	ErrInvalidSchedule = errors.New("refused by Temporal")
)

// overlapPolicies are the policies by the value of jobs.overlap.
var overlapPolicies = map[string]enumspb.ScheduleOverlapPolicy{
	config.OverlapSkip:  enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
	config.OverlapQueue: enumspb.SCHEDULE_OVERLAP_POLICY_BUFFER_ALL,
	config.OverlapAllow: enumspb.SCHEDULE_OVERLAP_POLICY_ALLOW_ALL,
}

// Schedule starts runs of a job.
type Schedule struct {
	Job     string // its ID
	Title   string // of the schedule and its runs in the UI
	Channel string // search attributes of its runs; may be empty
	Session string
	Sender  string

	// The schedule fires at At, every Every plus Offset since 1970, and when one of the
	// Cron expressions matches. Cron is read in Zone, an IANA name; empty: UTC.
	At     time.Time
	Every  time.Duration
	Offset time.Duration
	Cron   []string
	Zone   string

	Overlap string        // a policy of package config
	CatchUp time.Duration // how late a missed occurrence may still run
	Paused  bool
	Trigger bool // it also fires when it is created
}

// CreateSchedule creates a job's schedule.
func (c *Client) CreateSchedule(ctx context.Context, s Schedule) error {
	_, err := c.sdk.ScheduleClient().Create(ctx, c.scheduleOptions(s))
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return ErrScheduleExists
	}
	if _, invalid := errors.AsType[*serviceerror.InvalidArgument](err); invalid {
		return fmt.Errorf("%w: %w", ErrInvalidSchedule, err)
	}
	return err
}

func (c *Client) scheduleOptions(s Schedule) client.ScheduleOptions {
	run := c.startOptions(c.names.Job(s.Job), s.Title, background, searchAttributes(s.Channel, s.Session, s.Sender))
	options := client.ScheduleOptions{
		ID: run.ID, Spec: s.spec(), Action: scheduleAction(run, protocol.JobWorkflow, protocol.JobInput{ID: s.Job}),
		Overlap: overlapPolicies[s.Overlap], CatchupWindow: s.CatchUp, Paused: s.Paused, TriggerImmediately: s.Trigger,
		Note: run.StaticSummary,
	}
	if !s.At.IsZero() {
		options.RemainingActions = 1
	}
	return options
}

func (s Schedule) spec() client.ScheduleSpec {
	spec := client.ScheduleSpec{CronExpressions: s.Cron, TimeZoneName: s.Zone}
	if !s.At.IsZero() {
		spec.Calendars = []client.ScheduleCalendarSpec{calendar(s.At.UTC())}
	}
	if s.Every > 0 {
		spec.Intervals = []client.ScheduleIntervalSpec{{Every: s.Every, Offset: s.Offset}}
	}
	return spec
}

// calendar matches one time in UTC.
func calendar(t time.Time) client.ScheduleCalendarSpec {
	at := func(value int) []client.ScheduleRange { return []client.ScheduleRange{{Start: value}} }
	return client.ScheduleCalendarSpec{
		Year: at(t.Year()), Month: at(int(t.Month())), DayOfMonth: at(t.Day()),
		Hour: at(t.Hour()), Minute: at(t.Minute()), Second: at(t.Second()),
	}
}

// EnsureInterval creates a schedule with an interval, or sets the interval of the
// existing one.
func (c *Client) EnsureInterval(ctx context.Context, s Schedule) error {
	err := c.CreateSchedule(ctx, s)
	if !errors.Is(err, ErrScheduleExists) {
		return err
	}
	return c.schedule(ctx, s.Job).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			existing := in.Description.Schedule
			if existing.Spec != nil && len(existing.Spec.Intervals) == 1 && existing.Spec.Intervals[0].Every == s.Every {
				return nil, temporal.ErrSkipScheduleUpdate
			}
			spec := s.spec()
			existing.Spec = &spec
			return &client.ScheduleUpdate{Schedule: &existing}, nil
		},
	})
}

// PauseSchedule pauses a job's schedule, or resumes it.
func (c *Client) PauseSchedule(ctx context.Context, job string, paused bool) error {
	if paused {
		return c.schedule(ctx, job).Pause(ctx, client.SchedulePauseOptions{Note: "paused in Holdfast"})
	}
	return c.schedule(ctx, job).Unpause(ctx, client.ScheduleUnpauseOptions{Note: "resumed in Holdfast"})
}

// TriggerSchedule runs a job now.
func (c *Client) TriggerSchedule(ctx context.Context, job string, overlap string) error {
	return c.schedule(ctx, job).Trigger(ctx, client.ScheduleTriggerOptions{Overlap: overlapPolicies[overlap]})
}

// DeleteSchedule deletes a job's schedule, if it has one.
func (c *Client) DeleteSchedule(ctx context.Context, job string) error {
	err := c.schedule(ctx, job).Delete(ctx)
	if isNotFound(err) {
		return nil
	}
	return err
}

func (c *Client) schedule(ctx context.Context, job string) client.ScheduleHandle {
	return c.sdk.ScheduleClient().GetHandle(ctx, c.names.Job(job))
}

package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/dispatch"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// keepInterval is the interval at which missing and leftover schedules are looked for.
const keepInterval = 15 * time.Second

// Keep creates missing schedules and deletes leftover ones until ctx ends. It starts
// with those of all jobs, since the engine's data may have been lost.
func (j *Jobs) Keep(ctx context.Context) {
	ticker := time.NewTicker(keepInterval)
	defer ticker.Stop()
	for settle := j.settleAll; ; {
		if err := settle(ctx); err == nil {
			settle = j.settle
		} else if ctx.Err() == nil {
			j.log.Warn("schedules not synchronised, retrying", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// settleAll synchronises all schedules with the jobs.
func (j *Jobs) settleAll(ctx context.Context) error {
	if err := j.settleHeartbeat(ctx); err != nil {
		return err
	}
	jobs, err := j.o.Store.Jobs(ctx, "")
	if err != nil {
		return fmt.Errorf("read jobs: %w", err)
	}
	for _, job := range jobs {
		err = errors.Join(err, j.settleOne(ctx, job))
	}
	return errors.Join(err, j.settle(ctx))
}

// settle synchronises the schedules that a crash or an outage of Temporal left behind,
// and those of jobs that have ended or are overdue.
func (j *Jobs) settle(ctx context.Context) error {
	jobs, err := j.o.Store.UnsettledJobs(ctx)
	if err != nil {
		return fmt.Errorf("read jobs without a schedule: %w", err)
	}
	for _, job := range jobs {
		waits := job.Kind == domain.JobAt && job.Scheduled && (job.Paused || time.Since(due(job)) < overdueAfter)
		switch {
		case !job.EndedAt.IsZero():
			err = errors.Join(err, j.unschedule(ctx, job.ID))
		case !waits:
			err = errors.Join(err, j.settleOne(ctx, job))
		}
	}
	return err
}

// settleOne creates the schedule of an active job. A job that Temporal refuses is
// removed, which does not affect the others.
func (j *Jobs) settleOne(ctx context.Context, job domain.Job) error {
	err := j.ensure(ctx, job)
	if errors.Is(err, dispatch.ErrInvalidSchedule) {
		j.log.Error("job removed", "job", job.ID, "err", err)
		return nil
	}
	return err
}

// heartbeatCatchUp is short: the next heartbeat comes soon.
const heartbeatCatchUp = 10 * time.Second

// settleHeartbeat creates, changes or deletes the heartbeat's schedule.
func (j *Jobs) settleHeartbeat(ctx context.Context) error {
	if j.o.Heartbeat == 0 {
		return j.delete(ctx, domain.Heartbeat)
	}
	err := j.o.Client.EnsureInterval(ctx, dispatch.Schedule{
		Job: domain.Heartbeat, Title: "heartbeat", Session: domain.JobSession(domain.Heartbeat),
		Every: j.o.Heartbeat, Overlap: config.OverlapSkip, CatchUp: heartbeatCatchUp,
	})
	if err != nil {
		return fmt.Errorf("schedule the heartbeat: %w", err)
	}
	return nil
}

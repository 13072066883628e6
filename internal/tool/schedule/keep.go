package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// keepInterval is how often we look for jobs whose schedule is not as it should be.
const keepInterval = 15 * time.Second

// Keep sees to it, until ctx ends, that each job has its schedule and no other has.
// It begins with all of them: the engine's data may have been lost.
func (j *Jobs) Keep(ctx context.Context) {
	ticker := time.NewTicker(keepInterval)
	defer ticker.Stop()
	for settle := j.settleAll; ; {
		if err := settle(ctx); err == nil {
			settle = j.settle
		} else if ctx.Err() == nil {
			j.log.Warn("schedules not looked after yet", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// settleAll sees to all schedules.
func (j *Jobs) settleAll(ctx context.Context) error {
	if err := j.settleHeartbeat(ctx); err != nil {
		return err
	}
	jobs, err := j.o.Store.Jobs(ctx, "")
	if err != nil {
		return fmt.Errorf("look for jobs: %w", err)
	}
	for _, job := range jobs {
		if err := j.settleOne(ctx, job); err != nil {
			return err
		}
	}
	return j.settle(ctx)
}

// settle sees to the schedules of jobs that a crash, or Temporal being away, left
// behind, and of those that have ended or are overdue.
func (j *Jobs) settle(ctx context.Context) error {
	jobs, err := j.o.Store.UnsettledJobs(ctx)
	if err != nil {
		return fmt.Errorf("look for jobs without a schedule: %w", err)
	}
	for _, job := range jobs {
		waits := job.Kind == store.JobAt && job.Scheduled && (job.Paused || time.Since(due(job)) < overdueAfter)
		switch {
		case !job.EndedAt.IsZero():
			err = j.unschedule(ctx, job.ID)
		case !waits:
			err = j.settleOne(ctx, job)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// settleOne sees to the schedule of a job that goes on. One that Temporal does not
// take has ended, which is no reason to leave the others alone.
func (j *Jobs) settleOne(ctx context.Context, job store.Job) error {
	err := j.ensure(ctx, job)
	if errors.Is(err, ErrRefused) {
		j.log.Error("job removed", "job", job.ID, "err", err)
		return nil
	}
	return err
}

// settleHeartbeat makes, changes or deletes the heartbeat's schedule.
func (j *Jobs) settleHeartbeat(ctx context.Context) error {
	if j.o.Heartbeat == 0 {
		return j.delete(ctx, protocol.Heartbeat)
	}
	options := j.heartbeat()
	_, err := j.o.Client.ScheduleClient().Create(ctx, options)
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		err = j.changeHeartbeat(ctx, options)
	}
	if err != nil {
		return fmt.Errorf("schedule the heartbeat: %w", err)
	}
	return nil
}

func (j *Jobs) heartbeat() client.ScheduleOptions {
	return client.ScheduleOptions{
		ID:      protocol.Heartbeat,
		Spec:    client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: j.o.Heartbeat}}},
		Overlap: enumspb.SCHEDULE_OVERLAP_POLICY_SKIP,
		// One that was missed is not missed: the next comes soon.
		CatchupWindow: 10 * time.Second,
		Note:          "looks into HEARTBEAT.md",
		Action: &client.ScheduleWorkflowAction{
			ID: protocol.JobWorkflowID(protocol.Heartbeat), Workflow: protocol.JobWorkflow,
			Args: []any{protocol.JobInput{ID: protocol.Heartbeat}}, TaskQueue: protocol.AgentQueue,
			WorkflowTaskTimeout: workflowTaskTimeout, StaticSummary: "heartbeat",
			TypedSearchAttributes: temporal.NewSearchAttributes(
				temporal.NewSearchAttributeKeyKeyword(protocol.SearchSession).ValueSet(protocol.JobSession(protocol.Heartbeat)),
			),
		},
	}
}

// changeHeartbeat changes the interval of the schedule that is there.
func (j *Jobs) changeHeartbeat(ctx context.Context, want client.ScheduleOptions) error {
	return j.handle(ctx, protocol.Heartbeat).Update(ctx, client.ScheduleUpdateOptions{
		DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
			there := in.Description.Schedule
			if there.Spec != nil && len(there.Spec.Intervals) == 1 && there.Spec.Intervals[0].Every == want.Spec.Intervals[0].Every {
				return nil, temporal.ErrSkipScheduleUpdate
			}
			there.Spec = &want.Spec
			return &client.ScheduleUpdate{Schedule: &there}, nil
		},
	})
}

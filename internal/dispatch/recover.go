package dispatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"
	"golang.org/x/sync/errgroup"
)

// errorWorkerLost is the type of the error that a dead worker's activities fail with.
const errorWorkerLost = "WorkerLost"

// Recover takes over from workers that are known to be dead without waiting for a
// heartbeat timeout: it fails their activities with a retryable error, which schedules
// them again, and resets their sticky task queues. It looks at the workflows that
// visibility lists as running and, since visibility lags, at those named. It returns
// the number of activities it failed.
//
// Call it before this process's own worker starts.
func (c *Client) Recover(ctx context.Context, workflows []string, dead func(identity string) bool) (int, error) {
	running, err := c.withListed(ctx, workflows)
	if err != nil {
		return 0, err
	}
	return c.failActivities(ctx, running, ofWorker(dead))
}

// withListed adds the workflows that visibility lists as running to those named.
func (c *Client) withListed(ctx context.Context, named []string) ([]string, error) {
	listed, err := c.listRunning(ctx)
	if err != nil {
		return nil, err
	}
	running := map[string]bool{}
	for _, id := range named {
		running[id] = true
	}
	for _, run := range listed {
		running[run.GetExecution().GetWorkflowId()] = true
	}
	return slices.Collect(maps.Keys(running)), nil
}

// lostActivity reports whether the attempt of an activity of a run has no worker any more.
type lostActivity func(run string, pending *workflowpb.PendingActivityInfo) bool

// ofWorker returns whether the worker of an activity is one of those.
func ofWorker(dead func(identity string) bool) lostActivity {
	return func(_ string, pending *workflowpb.PendingActivityInfo) bool {
		return dead(pending.GetLastWorkerIdentity())
	}
}

// failActivities fails the activities of the given workflows that are lost, and resets the
// workflows' sticky task queues.
func (c *Client) failActivities(ctx context.Context, workflows []string, lost lostActivity) (int, error) {
	var failed atomic.Int64
	var group errgroup.Group
	group.SetLimit(recoverLimit)
	for _, id := range workflows {
		group.Go(func() error {
			n, err := c.recoverWorkflow(ctx, id, lost)
			failed.Add(int64(n))
			if err != nil && !isNotFound(err) {
				return fmt.Errorf("recover %s: %w", id, err)
			}
			return nil
		})
	}
	err := group.Wait()
	return int(failed.Load()), err
}

// recoverLimit bounds the workflows that are looked at concurrently.
const recoverLimit = 16

// listRunning returns the runs that visibility lists as running.
func (c *Client) listRunning(ctx context.Context) (running []*workflowpb.WorkflowExecutionInfo, err error) {
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: c.namespace, Query: c.runningQuery()}
	for {
		page, err := c.sdk.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list the running workflows: %w", err)
		}
		running = append(running, page.GetExecutions()...)
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return running, nil
		}
	}
}

func (c *Client) recoverWorkflow(ctx context.Context, id string, lost lostActivity) (failed int, err error) {
	described, err := c.sdk.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return 0, err
	}
	info := described.GetWorkflowExecutionInfo()
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return 0, nil
	}
	if _, err := c.sdk.WorkflowService().ResetStickyTaskQueue(ctx, &workflowservice.ResetStickyTaskQueueRequest{
		Namespace: c.namespace, Execution: info.GetExecution(),
	}); err != nil {
		return 0, err
	}
	for _, pending := range described.GetPendingActivities() {
		if pending.GetState() != enumspb.PENDING_ACTIVITY_STATE_STARTED || !lost(info.GetExecution().GetRunId(), pending) {
			continue
		}
		switch err := c.failActivity(ctx, info.GetExecution(), pending); {
		case err == nil:
			failed++
		case !isNotFound(err): // otherwise it has ended
			return failed, err
		}
	}
	return failed, nil
}

// failActivity fails an activity that is lost. Its heartbeat says that the attempt
// did not count.
func (c *Client) failActivity(ctx context.Context, run *commonpb.WorkflowExecution, pending *workflowpb.PendingActivityInfo) error {
	earlier := 0
	if details := pending.GetHeartbeatDetails(); details != nil {
		if err := converter.GetDefaultDataConverter().FromPayloads(details, &earlier); err != nil {
			return fmt.Errorf("read the heartbeat of an activity: %w", err)
		}
	}
	// It fails too if the activity was cancelled, which is no reason to leave it open.
	_ = c.sdk.RecordActivityHeartbeatByID(ctx, c.namespace, run.GetWorkflowId(), run.GetRunId(), pending.GetActivityId(), earlier+1)
	lost := temporal.NewApplicationErrorWithOptions("the worker was killed or frozen", errorWorkerLost, temporal.ApplicationErrorOptions{
		NextRetryDelay: 1, // immediately; zero would mean the policy's delay
		Category:       temporal.ApplicationErrorCategoryBenign,
	})
	return c.sdk.CompleteActivityByID(ctx, c.namespace, run.GetWorkflowId(), run.GetRunId(), pending.GetActivityId(), nil, lost)
}

func isNotFound(err error) bool {
	_, is := errors.AsType[*serviceerror.NotFound](err)
	return is
}

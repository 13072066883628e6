package dispatch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/temporal"
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
	running, err := c.listRunning(ctx)
	if err != nil {
		return 0, err
	}
	for _, id := range workflows {
		running[id] = true
	}
	failed := 0
	for _, id := range slices.Sorted(maps.Keys(running)) {
		n, err := c.recoverWorkflow(ctx, id, dead)
		failed += n
		if err != nil && !isNotFound(err) {
			return failed, fmt.Errorf("recover %s: %w", id, err)
		}
	}
	return failed, nil
}

// listRunning returns the IDs of the workflows that visibility lists as running.
func (c *Client) listRunning(ctx context.Context) (map[string]bool, error) {
	running := map[string]bool{}
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: c.namespace, Query: "ExecutionStatus = 'Running'"}
	for {
		page, err := c.sdk.ListWorkflow(ctx, request)
		if err != nil {
			return nil, fmt.Errorf("list the running workflows: %w", err)
		}
		for _, execution := range page.GetExecutions() {
			running[execution.GetExecution().GetWorkflowId()] = true
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return running, nil
		}
	}
}

func (c *Client) recoverWorkflow(ctx context.Context, id string, dead func(identity string) bool) (int, error) {
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
	failed := 0
	for _, pending := range described.GetPendingActivities() {
		if pending.GetState() != enumspb.PENDING_ACTIVITY_STATE_STARTED || !dead(pending.GetLastWorkerIdentity()) {
			continue
		}
		lost := temporal.NewApplicationErrorWithOptions("the worker was killed", errorWorkerLost, temporal.ApplicationErrorOptions{
			NextRetryDelay: 1, // immediately; zero would mean the policy's delay
		})
		if err := c.sdk.CompleteActivityByID(ctx, c.namespace, id, info.GetExecution().GetRunId(), pending.GetActivityId(), nil, lost); err != nil {
			return failed, err
		}
		failed++
	}
	return failed, nil
}

func isNotFound(err error) bool {
	_, is := errors.AsType[*serviceerror.NotFound](err)
	return is
}

package engine

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// WorkerLost is the type of the error with which [Release] fails an activity.
const WorkerLost = "WorkerLost"

// Release gives back what dead workers of the namespace held, those whose
// identity dead reports, and returns how many activities that were. Each is
// retried after its retry policy's first interval instead of after its heartbeat
// timeout, and its workflow no longer waits for the dead worker's cache. Call it
// once, when a worker is there to take over; dead must be true of no worker that
// lives: an activity that still ran would run twice.
//
// A workflow task that a worker died with cannot be given back. It is tried
// again after the workflow task timeout.
func Release(ctx context.Context, c client.Client, namespace string, dead func(identity string) bool) (int, error) {
	released := 0
	request := &workflowservice.ListWorkflowExecutionsRequest{
		Namespace: namespace,
		Query:     "ExecutionStatus = 'Running'",
	}
	for {
		page, err := c.ListWorkflow(ctx, request)
		if err != nil {
			return released, fmt.Errorf("list running workflows: %w", err)
		}
		for _, run := range page.GetExecutions() {
			n, err := releaseRun(ctx, c, namespace, run, dead)
			released += n
			if _, closed := errors.AsType[*serviceerror.NotFound](err); err != nil && !closed {
				return released, fmt.Errorf("release activities of %s: %w", run.GetExecution().GetWorkflowId(), err)
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.GetNextPageToken()) == 0 {
			return released, nil
		}
	}
}

func releaseRun(ctx context.Context, c client.Client, namespace string, run *workflow.WorkflowExecutionInfo, dead func(string) bool) (int, error) {
	execution := run.GetExecution()
	described, err := c.DescribeWorkflowExecution(ctx, execution.GetWorkflowId(), execution.GetRunId())
	if err != nil {
		return 0, err
	}
	released := 0
	for _, held := range described.GetPendingActivities() {
		if held.GetState() != enumspb.PENDING_ACTIVITY_STATE_STARTED || !dead(held.GetLastWorkerIdentity()) {
			continue
		}
		if released == 0 {
			_, err := c.WorkflowService().ResetStickyTaskQueue(ctx, &workflowservice.ResetStickyTaskQueueRequest{
				Namespace: namespace, Execution: execution,
			})
			if err != nil {
				return released, err
			}
		}
		lost := temporal.NewApplicationError("the worker died", WorkerLost)
		if err := c.CompleteActivityByID(ctx, namespace, execution.GetWorkflowId(), execution.GetRunId(), held.GetActivityId(), nil, lost); err != nil {
			return released, err
		}
		released++
	}
	return released, nil
}

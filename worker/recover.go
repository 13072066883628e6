package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// errorLost is the type of the error that a dead worker's activities fail with.
const errorLost = "WorkerLost"

// RecoverOptions tell [Recover] what to look at.
type RecoverOptions struct {
	Client    client.Client
	Namespace string
	Workflows []string                   // IDs of workflows that may be running and too new to be listed
	Dead      func(identity string) bool // whether the worker with that identity is known to be dead
}

// Recover takes back what dead workers held, so that it goes on at once and not
// after a heartbeat timeout: their activities fail with a retryable error, and
// their cached workflows are given up. It looks at the workflows that the server
// lists as running, which takes it a moment after they began, and at those named.
// It returns how many activities it took.
// It is called before this process's own worker starts, by one who knows, by
// the lock on the engine's data, that the workers it names are gone.
func Recover(ctx context.Context, o RecoverOptions) (int, error) {
	running, err := listRunning(ctx, o)
	if err != nil {
		return 0, err
	}
	for _, id := range o.Workflows {
		running[id] = true
	}
	taken := 0
	for _, id := range slices.Sorted(maps.Keys(running)) {
		n, err := recoverWorkflow(ctx, o, id)
		if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
			continue
		}
		if err != nil {
			return taken, fmt.Errorf("recover %s: %w", id, err)
		}
		taken += n
	}
	return taken, nil
}

// listRunning returns the IDs of the workflows that the server lists as running.
func listRunning(ctx context.Context, o RecoverOptions) (map[string]bool, error) {
	running := map[string]bool{}
	request := &workflowservice.ListWorkflowExecutionsRequest{Namespace: o.Namespace, Query: "ExecutionStatus = 'Running'"}
	for {
		page, err := o.Client.ListWorkflow(ctx, request)
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

func recoverWorkflow(ctx context.Context, o RecoverOptions, id string) (int, error) {
	described, err := o.Client.DescribeWorkflowExecution(ctx, id, "")
	if err != nil {
		return 0, err
	}
	info := described.GetWorkflowExecutionInfo()
	if info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return 0, nil
	}
	if _, err := o.Client.WorkflowService().ResetStickyTaskQueue(ctx, &workflowservice.ResetStickyTaskQueueRequest{
		Namespace: o.Namespace, Execution: info.GetExecution(),
	}); err != nil {
		return 0, err
	}
	taken := 0
	for _, pending := range described.GetPendingActivities() {
		if pending.GetState() != enumspb.PENDING_ACTIVITY_STATE_STARTED || !o.Dead(pending.GetLastWorkerIdentity()) {
			continue
		}
		lost := temporal.NewApplicationErrorWithOptions("the worker was killed", errorLost, temporal.ApplicationErrorOptions{
			NextRetryDelay: 1, // at once; zero would mean the policy's delay
		})
		if err := o.Client.CompleteActivityByID(ctx, o.Namespace, id, info.GetExecution().GetRunId(), pending.GetActivityId(), nil, lost); err != nil {
			return taken, err
		}
		taken++
	}
	return taken, nil
}

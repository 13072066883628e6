// Package dispatchtest provides a Temporal for tests that only records signals.
package dispatchtest

import (
	"context"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// Engine records the signals of messages. It accepts every schedule. Its zero value is
// ready.
type Engine struct {
	client.Client

	mu      sync.Mutex
	refuse  func(protocol.MessageRef) error
	runs    map[string]*workflowpb.WorkflowExecutionInfo // the last of each workflow
	busy    map[string]bool                              // workflows with an activity under way
	signals []protocol.MessageRef
	options []client.StartWorkflowOptions
}

// SignalWithStartWorkflow implements [client.Client].
func (e *Engine) SignalWithStartWorkflow(
	ctx context.Context, _, _ string, arg any, options client.StartWorkflowOptions, _ any, _ ...any,
) (client.WorkflowRun, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	message := arg.(protocol.MessageRef)
	if e.refuse != nil {
		if err := e.refuse(message); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	e.signals, e.options = append(e.signals, message), append(e.options, options)
	return nil, nil
}

// DescribeWorkflowExecution implements [client.Client].
func (e *Engine) DescribeWorkflowExecution(_ context.Context, workflowID, runID string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	run, known := e.runs[workflowID]
	if !known || runID != "" && runID != run.GetExecution().GetRunId() {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	described := &workflowservice.DescribeWorkflowExecutionResponse{WorkflowExecutionInfo: run}
	if e.busy[workflowID] {
		described.PendingActivities = []*workflowpb.PendingActivityInfo{{}}
	}
	return described, nil
}

// SetState sets the state of a workflow. Others are unknown.
func (e *Engine) SetState(workflowID string, state enumspb.WorkflowExecutionStatus) {
	e.SetRun(workflowID, "", "", state)
}

// SetRun sets the state and ID of a workflow's last run, and the ID of the run with which
// the chain that it continues began. Others are unknown.
func (e *Engine) SetRun(workflowID, runID, first string, state enumspb.WorkflowExecutionStatus) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs == nil {
		e.runs = map[string]*workflowpb.WorkflowExecutionInfo{}
	}
	e.runs[workflowID] = &workflowpb.WorkflowExecutionInfo{
		Execution: &commonpb.WorkflowExecution{WorkflowId: workflowID, RunId: runID}, FirstRunId: first, Status: state,
	}
}

// SetBusy gives a workflow's last run an activity that is under way.
func (e *Engine) SetBusy(workflowID string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy == nil {
		e.busy = map[string]bool{}
	}
	e.busy[workflowID] = true
}

// ListWorkflow implements [client.Client]: it lists the runs that are running.
func (e *Engine) ListWorkflow(context.Context, *workflowservice.ListWorkflowExecutionsRequest) (*workflowservice.ListWorkflowExecutionsResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	page := &workflowservice.ListWorkflowExecutionsResponse{}
	for _, run := range e.runs {
		if run.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			page.Executions = append(page.Executions, run)
		}
	}
	return page, nil
}

// TerminateWorkflow implements [client.Client].
func (e *Engine) TerminateWorkflow(_ context.Context, workflowID, runID, _ string, _ ...any) error {
	e.SetRun(workflowID, runID, runID, enumspb.WORKFLOW_EXECUTION_STATUS_TERMINATED)
	return nil
}

// ScheduleClient implements [client.Client].
func (e *Engine) ScheduleClient() client.ScheduleClient { return schedules{} }

type schedules struct{ client.ScheduleClient }

func (schedules) Create(context.Context, client.ScheduleOptions) (client.ScheduleHandle, error) {
	return nil, nil
}

// Refuse sets a function that decides about each signal before it is recorded; nil
// accepts all.
func (e *Engine) Refuse(refuse func(protocol.MessageRef) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.refuse = refuse
}

// Signals returns the recorded signals.
func (e *Engine) Signals() []protocol.MessageRef {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]protocol.MessageRef(nil), e.signals...)
}

// Signalled returns the IDs of the messages that were signalled.
func (e *Engine) Signalled() []string {
	var ids []string
	for _, m := range e.Signals() {
		ids = append(ids, m.ID)
	}
	return ids
}

// Options returns the options of each recorded signal.
func (e *Engine) Options() []client.StartWorkflowOptions {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]client.StartWorkflowOptions(nil), e.options...)
}

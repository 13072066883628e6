// Package dispatchtest provides a Temporal for tests that only records signals.
package dispatchtest

import (
	"context"
	"sync"

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
	states  map[string]enumspb.WorkflowExecutionStatus
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
func (e *Engine) DescribeWorkflowExecution(_ context.Context, workflowID, _ string) (*workflowservice.DescribeWorkflowExecutionResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	state, known := e.states[workflowID]
	if !known {
		return nil, serviceerror.NewNotFound("no such workflow")
	}
	return &workflowservice.DescribeWorkflowExecutionResponse{
		WorkflowExecutionInfo: &workflowpb.WorkflowExecutionInfo{Status: state},
	}, nil
}

// SetState sets the state of a workflow. Others are unknown.
func (e *Engine) SetState(workflowID string, state enumspb.WorkflowExecutionStatus) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.states == nil {
		e.states = map[string]enumspb.WorkflowExecutionStatus{}
	}
	e.states[workflowID] = state
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

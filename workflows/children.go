package workflows

import (
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// spawn starts the subagent whose task a call has stored. An existing workflow is the
// subagent's own.
func (s *session) spawn(ctx workflow.Context, turn string, step int, call protocol.Call) {
	child := protocol.Child{ID: domain.CallKey(turn, step, call.Index), Label: cut(call.Preview, summaryLimit)}
	if slices.Contains(s.state.Children, child) {
		return
	}
	s.state.Children = append(s.state.Children, child)
	input := protocol.SubagentInput(child.ID, s.ref.Depth+1, s.turn.model, s.limits.SubagentSteps)
	future := executeSubagent(ctx, child, s.ref.Key, input)
	if err := future.GetChildWorkflowExecution().Get(ctx, nil); err != nil && !temporal.IsWorkflowExecutionAlreadyStartedError(err) {
		workflow.GetLogger(ctx).Error("subagent not started", "subagent", child.ID, "err", err)
	}
}

// executeSubagent starts a subagent that is not affected when the turn is cancelled or the
// session continues as new. [session.stopChildren] cancels it by its workflow ID.
func executeSubagent(ctx workflow.Context, child protocol.Child, parent string, input protocol.SessionInput) workflow.ChildWorkflowFuture {
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	ctx = workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:            names(ctx).Session(input.Session.Key),
		TaskQueue:             names(ctx).AgentQueue(),
		WorkflowTaskTimeout:   workflow.GetInfo(ctx).WorkflowTaskTimeout, // Temporal's default is longer
		ParentClosePolicy:     enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		StaticSummary:         cut("subagent of "+parent+": "+child.Label, summaryLimit),
		TypedSearchAttributes: workflow.GetTypedSearchAttributes(ctx),
		Priority:              temporal.Priority{PriorityKey: protocol.BackgroundPriority}, // and its parent's fairness key
	})
	return workflow.ExecuteChildWorkflow(ctx, protocol.SubagentWorkflow, input)
}

// stopChildren cancels the subagents and discards their reports. It reports whether there
// were any.
func (s *session) stopChildren(ctx workflow.Context) bool {
	stopped := len(s.state.Children) > 0
	ctx, _ = workflow.NewDisconnectedContext(ctx)
	for _, child := range s.state.Children {
		workflow.RequestCancelExternalWorkflow(ctx, names(ctx).Session(domain.SubagentSession(child.ID)), "")
	}
	s.state.Children = nil
	return stopped
}

// reported removes a subagent whose report has arrived.
func (s *session) reported(id string) {
	s.state.Children = slices.DeleteFunc(s.state.Children, func(c protocol.Child) bool { return c.ID == id })
}

package dispatch

import (
	"context"
	"errors"
	"fmt"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// reconcileTurns ends running turns whose workflow was closed from outside, and restarts
// those whose workflow the engine no longer knows because its data was lost or moved. A
// restarted turn continues from what the store has.
func (d *Dispatcher) reconcileTurns(ctx context.Context, turns []domain.Turn) {
	for _, turn := range turns {
		d.report(ctx, "turn not reconciled", d.reconcileTurn(ctx, turn), "turn", turn.ID)
	}
}

func (d *Dispatcher) reconcileTurn(ctx context.Context, turn domain.Turn) error {
	state, err := d.turnState(ctx, turn)
	if err != nil || state == running {
		return err
	}
	if state != lost {
		return d.endTurn(ctx, turn, "the run was terminated externally ("+state+")")
	}
	if id, is := domain.SubagentOf(turn.Session); is {
		return d.reconcileSubagentTurn(ctx, turn, id)
	}
	message, err := d.store.Inbound(ctx, turn.ID)
	if errors.Is(err, domain.ErrNotFound) {
		return d.endTurn(ctx, turn, "its message is missing")
	}
	if err != nil {
		return err
	}
	d.log.Warn("restarting a turn whose workflow is lost", "session", turn.Session, "turn", turn.ID)
	return d.signal(ctx, message)
}

// reconcileSubagentTurn ends the turn of a subagent that has reported. Others are left to
// [Dispatcher.reconcileSubagents].
func (d *Dispatcher) reconcileSubagentTurn(ctx context.Context, turn domain.Turn, id string) error {
	subagent, err := d.store.Subagent(ctx, id)
	if err != nil || subagent.Status == domain.SubagentRunning {
		return err
	}
	return d.endTurn(ctx, turn, "the subagent had ended")
}

func (d *Dispatcher) endTurn(ctx context.Context, turn domain.Turn, reason string) error {
	end := store.End{
		Session: turn.Session, Turn: turn.ID, Status: domain.TurnStopped, Silent: true,
		Reply: "It was not finished: " + reason + ".", Fill: "No result: " + reason + ".",
	}
	if _, err := d.store.EndTurn(ctx, end); err != nil {
		return err
	}
	d.log.Warn("ended a turn without a workflow", "session", turn.Session, "turn", turn.ID, "reason", reason)
	d.events.Publish(ctx, turn.ID, event.Event{Kind: event.Done})
	return nil
}

// reconcileSubagents fails subagents whose workflow closed without a report, and restarts
// those whose workflow the engine no longer knows.
func (d *Dispatcher) reconcileSubagents(ctx context.Context, subagents []domain.Subagent) {
	for _, subagent := range subagents {
		d.report(ctx, "subagent not reconciled", d.reconcileSubagent(ctx, subagent), "subagent", subagent.ID)
	}
}

func (d *Dispatcher) reconcileSubagent(ctx context.Context, subagent domain.Subagent) error {
	state, err := d.state(ctx, d.names.Session(subagent.Session))
	switch {
	case err != nil, state == running:
		return err
	case state == lost:
		return d.restartSubagent(ctx, subagent)
	default:
		return d.failSubagent(ctx, subagent, "its run was terminated externally ("+state+")")
	}
}

// restartSubagent starts the workflow of a subagent as the turn that spawned it did.
func (d *Dispatcher) restartSubagent(ctx context.Context, subagent domain.Subagent) error {
	depth, err := d.depth(ctx, subagent)
	if err != nil {
		return err
	}
	d.log.Warn("restarting a subagent whose workflow is lost", "subagent", subagent.ID, "session", subagent.Parent)
	options := d.startOptions(d.names.Session(subagent.Session), "subagent of "+subagent.Parent+": "+subagent.Label, background,
		searchAttributes(subagent.Route.Channel, subagent.Session, subagent.Route.Sender))
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	_, err = d.sdk.ExecuteWorkflow(ctx, options, protocol.SubagentWorkflow,
		protocol.SubagentInput(subagent.ID, depth, d.model, d.limits.SubagentSteps))
	if _, exists := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); exists {
		return nil
	}
	return err
}

// depth is a subagent's level of nesting, from 1.
func (d *Dispatcher) depth(ctx context.Context, subagent domain.Subagent) (int, error) {
	depth := 1
	for parent := subagent.Parent; ; depth++ {
		id, is := domain.SubagentOf(parent)
		if !is {
			return depth, nil
		}
		above, err := d.store.Subagent(ctx, id)
		if err != nil {
			return 0, fmt.Errorf("read the subagent that spawned it: %w", err)
		}
		parent = above.Parent
	}
}

func (d *Dispatcher) failSubagent(ctx context.Context, subagent domain.Subagent, reason string) error {
	d.log.Warn("reporting a subagent without a workflow as failed", "subagent", subagent.ID, "session", subagent.Parent, "reason", reason)
	report, err := d.store.EndSubagent(ctx, subagent.ID, domain.SubagentFailed, "It did not finish: "+reason+".")
	if err != nil || report.ID == "" || report.Turn != "" {
		return err
	}
	return d.Signal(ctx, report)
}

// States of a workflow that has not closed, as Temporal names them.
const (
	running = "Running"
	lost    = "lost" // Temporal does not know it
)

func (d *Dispatcher) state(ctx context.Context, workflowID string) (string, error) {
	described, err := d.sdk.DescribeWorkflowExecution(ctx, workflowID, "")
	if isNotFound(err) {
		return lost, nil
	}
	return described.GetWorkflowExecutionInfo().GetStatus().String(), err
}

// turnState is the state of a turn's run and of those that continue it. A later message may
// have started another run of the session since.
func (d *Dispatcher) turnState(ctx context.Context, turn domain.Turn) (string, error) {
	described, err := d.sdk.DescribeWorkflowExecution(ctx, turn.WorkflowID, "")
	info := described.GetWorkflowExecutionInfo()
	run := info.GetExecution().GetRunId()
	if err == nil && run != turn.RunID && run == info.GetFirstRunId() {
		described, err = d.sdk.DescribeWorkflowExecution(ctx, turn.WorkflowID, turn.RunID)
		info = described.GetWorkflowExecutionInfo()
	}
	if isNotFound(err) {
		return lost, nil
	}
	return info.GetStatus().String(), err
}

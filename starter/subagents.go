package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// subagentAge is how old a subagent is before we look whether its workflow is
// there: who spawned it starts it a moment later.
const subagentAge = 30 * time.Second

// subagentInterval is how often we look.
const subagentInterval = 15 * time.Second

// Signal brings a message that is accepted to its session, starting that if need
// be. On an error the sweeper will.
func (s *Starter) Signal(ctx context.Context, message domain.Inbound) error {
	return s.signalInOrder(ctx, message)
}

// watchSubagents reports subagents as failed whose workflow has ended without a word.
// One whose workflow the engine does not know any more is begun again: what it had
// done is in the store, and it goes on from there.
func (s *Starter) watchSubagents(ctx context.Context) error {
	return s.watchSubagentsOlder(ctx, subagentAge)
}

func (s *Starter) watchSubagentsOlder(ctx context.Context, age time.Duration) error {
	running, err := s.o.Store.Subagents(ctx, "")
	if err != nil {
		return fmt.Errorf("look for subagents without a workflow: %w", err)
	}
	for _, subagent := range running {
		if time.Since(subagent.CreatedAt) < age {
			continue
		}
		described, err := s.o.Client.DescribeWorkflowExecution(ctx, protocol.WorkflowID(subagent.Session), "")
		_, lost := errors.AsType[*serviceerror.NotFound](err)
		status := described.GetWorkflowExecutionInfo().GetStatus()
		switch {
		case lost:
			err = s.restartChild(ctx, subagent)
		case err == nil && status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			err = s.buryChild(ctx, subagent, "its run was ended from outside ("+status.String()+")")
		}
		if err != nil {
			return fmt.Errorf("look after subagent %s: %w", subagent.ID, err)
		}
	}
	return nil
}

// restartChild starts the workflow of a subagent, as who spawned it did.
func (s *Starter) restartChild(ctx context.Context, subagent domain.Subagent) error {
	depth, err := s.depth(ctx, subagent)
	if err != nil {
		return err
	}
	s.log.Warn("a subagent's workflow is lost, beginning it again", "subagent", subagent.ID, "session", subagent.Parent)
	_, err = s.o.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID:                    protocol.WorkflowID(subagent.Session),
		TaskQueue:             protocol.AgentQueue,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowTaskTimeout:   workflowTaskTimeout,
		StaticSummary:         text.Cut("subagent of "+subagent.Parent+": "+subagent.Label, 2*previewLimit),
	}, protocol.SubagentWorkflow, protocol.SubagentInput(subagent.ID, depth, s.o.Model, s.o.SubagentSteps))
	if _, there := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); there {
		return nil
	}
	return err
}

// depth is how many subagents are above each other, this one included.
func (s *Starter) depth(ctx context.Context, subagent domain.Subagent) (int, error) {
	depth := 1
	for parent := subagent.Parent; ; depth++ {
		id, is := domain.SubagentOf(parent)
		if !is {
			return depth, nil
		}
		above, err := s.o.Store.Subagent(ctx, id)
		if err != nil {
			return 0, fmt.Errorf("look who spawned it: %w", err)
		}
		parent = above.Parent
	}
}

func (s *Starter) buryChild(ctx context.Context, subagent domain.Subagent, reason string) error {
	s.log.Warn("a subagent is dead, reporting it as failed", "subagent", subagent.ID, "session", subagent.Parent, "reason", reason)
	message, err := s.o.Store.EndSubagent(ctx, subagent.ID, domain.SubagentFailed, "It did not finish: "+reason+".")
	if err != nil || message.ID == "" || message.Turn != "" {
		return err
	}
	return s.signalInOrder(ctx, message)
}

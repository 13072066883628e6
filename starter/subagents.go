package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// subagentAge is how old a subagent is before we look whether its workflow is
// there: who spawned it starts it a moment later.
const subagentAge = 30 * time.Second

// subagentInterval is how often we look.
const subagentInterval = 15 * time.Second

// Signal brings a message that is accepted to its session, starting that if need
// be. On an error the sweeper will.
func (s *Starter) Signal(ctx context.Context, message store.Inbound) error {
	return s.signalInOrder(ctx, message)
}

// watchSubagents reports subagents whose workflow has ended without a word, or is
// lost, as failed.
func (s *Starter) watchSubagents(ctx context.Context) error {
	running, err := s.o.Store.Subagents(ctx, "")
	if err != nil {
		return fmt.Errorf("look for subagents without a workflow: %w", err)
	}
	for _, subagent := range running {
		if time.Since(subagent.CreatedAt) < subagentAge {
			continue
		}
		described, err := s.o.Client.DescribeWorkflowExecution(ctx, protocol.WorkflowID(subagent.Session), "")
		_, lost := errors.AsType[*serviceerror.NotFound](err)
		status := described.GetWorkflowExecutionInfo().GetStatus()
		switch {
		case lost:
			err = s.buryChild(ctx, subagent, "its run was lost")
		case err == nil && status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING:
			err = s.buryChild(ctx, subagent, "its run was ended from outside ("+status.String()+")")
		}
		if err != nil {
			return fmt.Errorf("look after subagent %s: %w", subagent.ID, err)
		}
	}
	return nil
}

func (s *Starter) buryChild(ctx context.Context, subagent store.Subagent, reason string) error {
	s.log.Warn("a subagent is dead, reporting it as failed", "subagent", subagent.ID, "session", subagent.Parent, "reason", reason)
	message, err := s.o.Store.EndSubagent(ctx, subagent.ID, store.SubagentFailed, "It did not finish: "+reason+".")
	if err != nil || message.ID == "" || message.Turn != "" {
		return err
	}
	return s.signalInOrder(ctx, message)
}

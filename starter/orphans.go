package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/store"
)

const (
	// orphanInterval is how often we look for turns whose workflow is gone.
	orphanInterval = 30 * time.Second
	// orphanAge is how old a running turn is before we look.
	orphanAge = 30 * time.Second
	// orphanLimit bounds the turns of one look.
	orphanLimit = 200
)

// adopt looks after running turns whose workflow is gone. One that a person
// terminated is closed; one that the engine does not know any more, because its
// data was lost or moved aside, is begun again: what it had done is in the store,
// and it goes on from there.
func (s *Starter) adopt(ctx context.Context) error {
	return s.adoptOlder(ctx, orphanAge)
}

func (s *Starter) adoptOlder(ctx context.Context, age time.Duration) error {
	turns, err := s.o.Store.RunningTurns(ctx, time.Now().Add(-age), orphanLimit)
	if err != nil {
		return fmt.Errorf("look for turns without a workflow: %w", err)
	}
	for _, turn := range turns {
		described, err := s.o.Client.DescribeWorkflowExecution(ctx, turn.WorkflowID, "")
		_, lost := errors.AsType[*serviceerror.NotFound](err)
		subagent, isSubagent := domain.SubagentOf(turn.Session)
		switch {
		case lost && isSubagent:
			err = s.adoptChild(ctx, turn, subagent)
		case lost:
			err = s.restart(ctx, turn)
		case err == nil:
			err = s.closeOrphan(ctx, turn, described.GetWorkflowExecutionInfo().GetStatus())
		}
		if err != nil {
			return fmt.Errorf("look after turn %s: %w", turn.ID, err)
		}
	}
	return nil
}

// restart signals the message that began a turn, whose ID the turn has.
func (s *Starter) restart(ctx context.Context, turn domain.Turn) error {
	inbound, err := s.o.Store.Inbound(ctx, turn.ID)
	if err != nil {
		return err
	}
	s.log.Warn("a turn's workflow is lost, beginning it again", "session", turn.Session, "turn", turn.ID)
	return s.signal(ctx, inbound)
}

// adoptChild closes the turn of a subagent that has reported already. Another one goes
// on: see [Starter.watchSubagents].
func (s *Starter) adoptChild(ctx context.Context, turn domain.Turn, id string) error {
	subagent, err := s.o.Store.Subagent(ctx, id)
	if err != nil || subagent.Status == domain.SubagentRunning {
		return err
	}
	return s.closeTurn(ctx, turn, "the subagent had ended")
}

// closeOrphan ends a turn whose workflow has closed without doing so.
func (s *Starter) closeOrphan(ctx context.Context, turn domain.Turn, status enumspb.WorkflowExecutionStatus) error {
	if status == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		return nil
	}
	return s.closeTurn(ctx, turn, "the run was ended from outside ("+status.String()+")")
}

func (s *Starter) closeTurn(ctx context.Context, turn domain.Turn, reason string) error {
	end := store.End{
		Session: turn.Session, Turn: turn.ID, Status: domain.TurnStopped, Silent: true,
		Reply: "It was not finished: " + reason + ".", Fill: "No result: " + reason + ".",
	}
	if _, err := s.o.Store.EndTurn(ctx, end); err != nil {
		return err
	}
	s.log.Warn("a turn without a workflow was closed", "session", turn.Session, "turn", turn.ID, "reason", reason)
	s.o.Events.Publish(ctx, turn.ID, event.Event{Kind: event.Done})
	return nil
}

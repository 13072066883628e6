package activities

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
)

// EndTurn ends a turn that the model did not finish. It completes the transcript, stops
// running commands, and makes the first attempt to deliver one sentence to the user.
func (a *Agent) EndTurn(ctx context.Context, in protocol.EndTurnInput) (protocol.EndTurnResult, error) {
	info := activity.GetInfo(ctx)
	if err := a.stopCommands(ctx, in.Turn); err != nil {
		return protocol.EndTurnResult{}, err
	}
	end := store.End{
		Session: in.Session.Key, Channel: in.Session.Channel, Turn: in.Turn, Messages: in.Messages,
		Status: domain.TurnFailed, Reply: in.Reason, Fill: "No result: " + in.Reason, Silent: in.Silent,
		WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID,
	}
	if in.Ending == protocol.EndingStopped {
		end.Status, end.Reply, end.Fill = domain.TurnStopped, "Stopped.", "No result: the user stopped the request."
	}
	started := time.Now()
	turn, err := a.Store.EndTurn(ctx, end)
	if err != nil {
		return protocol.EndTurnResult{}, fmt.Errorf("end turn: %w", err)
	}
	ended := turn.EndedAt.After(started)
	if ended {
		a.Metrics.TurnEnded(in.Session.Channel, turn.Status, turn.EndedAt.Sub(turn.StartedAt))
	}
	a.Events.Publish(ctx, in.Turn, event.Event{Kind: event.Done})
	for _, m := range in.Messages {
		a.Events.Publish(ctx, m, event.Event{Kind: event.Done})
	}
	if !ended && info.Attempt == 1 { // the last Complete ended it and may be delivering the reply
		a.awaitClaim(ctx, turn.Outbox)
	}
	left := a.concludeTurn(ctx, in.Session, in.Turn, turn.Outbox)
	if dropped, err := a.Store.DroppedApprovals(ctx, in.Turn); err == nil {
		a.closeQuestions(ctx, dropped...)
	}
	return protocol.EndTurnResult{Outbox: left}, nil
}

// stopCommands stops the commands that the turn's calls started. They may outlive the
// worker that started them.
func (a *Agent) stopCommands(ctx context.Context, turn string) error {
	if a.Tools.Supervisor == nil {
		return nil
	}
	intents, err := a.Store.Intents(ctx, turn)
	if err != nil {
		return fmt.Errorf("look for running commands: %w", err)
	}
	var keys []string
	for _, intent := range intents {
		if intent.Part == shell.CommandPart {
			keys = append(keys, intent.Call)
		}
	}
	if err := a.Tools.Supervisor.Stop(ctx, keys...); err != nil {
		return fmt.Errorf("stop running commands: %w", err)
	}
	return nil
}

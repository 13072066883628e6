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
func (a *Agent) EndTurn(ctx context.Context, in protocol.EndTurnInput) (result protocol.EndTurnResult, err error) {
	defer recoverPanic(ctx, &err)
	result, err = a.endTurn(ctx, in)
	return result, failure(ctx, ctx, err)
}

func (a *Agent) endTurn(ctx context.Context, in protocol.EndTurnInput) (protocol.EndTurnResult, error) {
	info := activity.GetInfo(ctx)
	a.Events.Publish(ctx, endTopic(in.Turn), event.Event{Kind: event.Done})
	if place, err := a.stopCommands(ctx, in); err != nil || place != "" {
		return protocol.EndTurnResult{Place: place}, err
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
		messages, _ := a.Store.ExportMessages(ctx, turn.ID) // only to count them
		a.turnEnded(ctx, in.Session.Channel, turn, messages)
	}
	a.Events.Publish(ctx, in.Turn, event.Event{Kind: event.Done})
	for _, m := range in.Messages {
		a.Events.Publish(ctx, m, event.Event{Kind: event.Done})
	}
	if !ended && info.Attempt == 1 { // the last Complete ended it and may be delivering the reply
		a.awaitClaim(ctx, turn.Outbox)
	}
	left := a.concludeTurn(ctx, in.Session, in.Turn, turn.Outbox, in.Behind)
	if dropped, err := a.Store.DroppedApprovals(ctx, in.Turn); err == nil {
		a.closeQuestions(ctx, dropped...)
	}
	return protocol.EndTurnResult{Outbox: left}, nil
}

// stopCommands stops the commands that the turn's calls started, which may outlive the
// worker that started them. Place is another place, not tried yet, where some may run.
func (a *Agent) stopCommands(ctx context.Context, in protocol.EndTurnInput) (place string, err error) {
	if a.Tools.Supervisor == nil {
		return "", nil
	}
	intents, err := a.Store.Intents(ctx, in.Turn)
	if err != nil {
		return "", fmt.Errorf("look for running commands: %w", err)
	}
	var here, elsewhere []string
	for _, intent := range intents {
		if intent.Part != shell.CommandPart {
			continue
		}
		place := shell.PlaceOf(intent.Data)
		if place == "" || place == a.Tools.Supervisor.Place() {
			here = append(here, intent.Call)
			continue
		}
		running, err := a.mayRun(ctx, in.Session.Key, intent, place)
		if err != nil {
			return "", err
		}
		if running {
			elsewhere = append(elsewhere, place)
		}
	}
	if err := a.Tools.Supervisor.Stop(ctx, here...); err != nil {
		return "", fmt.Errorf("stop running commands: %w", err)
	}
	return a.elsewhere(elsewhere, in.Tried), nil
}

// mayRun reports whether the command of a call may still run in another place: the call has
// no result yet, or the session has background commands there.
func (a *Agent) mayRun(ctx context.Context, session string, call store.Intent, place string) (bool, error) {
	if at, _, err := a.Store.SessionPlaces(ctx, session); err != nil || at == place {
		return true, err
	}
	step, index := domain.CallPosition(call.Call)
	_, done, err := a.Store.Result(ctx, call.Turn, step, index)
	return !done, err
}

package activities

import (
	"context"
	"fmt"
	"strings"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
)

// EndTurn closes a turn that the model did not finish: the transcript is made
// whole, commands that still run are stopped, and the user gets one sentence.
func (a *Agent) EndTurn(ctx context.Context, in protocol.EndTurnInput) (protocol.EndTurnResult, error) {
	info := activity.GetInfo(ctx)
	if err := a.stopCommands(ctx, in.Turn); err != nil {
		return protocol.EndTurnResult{}, err
	}
	end := store.End{
		Session: in.Session.Key, Channel: in.Session.Channel, Turn: in.Turn, Messages: in.Messages,
		Status: store.TurnFailed, Reply: in.Reason, Fill: "No result: " + in.Reason, Silent: in.Silent,
		WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID,
	}
	if in.Ending == protocol.EndingStopped {
		end.Status, end.Reply, end.Fill = store.TurnStopped, "Stopped.", "No result: the user stopped the request."
	}
	turn, err := a.Store.EndTurn(ctx, end)
	if err != nil {
		return protocol.EndTurnResult{}, fmt.Errorf("end turn: %w", err)
	}
	a.Events.Publish(ctx, in.Turn, event.Event{Kind: event.Done})
	for _, m := range in.Messages {
		a.Events.Publish(ctx, m, event.Event{Kind: event.Done})
	}
	return protocol.EndTurnResult{Outbox: turn.Outbox}, nil
}

// stopCommands stops the commands that the turn's calls started, wherever their
// workers are: they outlive them.
func (a *Agent) stopCommands(ctx context.Context, turn string) error {
	if a.Supervisor == nil {
		return nil
	}
	intents, err := a.Store.Intents(ctx, turn)
	if err != nil {
		return fmt.Errorf("look for running commands: %w", err)
	}
	for _, intent := range intents {
		if intent.Part != "exec" {
			continue
		}
		if err := a.Supervisor.Stop(ctx, intent.Call); err != nil {
			return fmt.Errorf("stop a running command: %w", err)
		}
	}
	return nil
}

// Answer does and answers a command, once.
func (a *Agent) Answer(ctx context.Context, in protocol.AnswerInput) (protocol.AnswerResult, error) {
	info := activity.GetInfo(ctx)
	turn, fresh, err := a.Store.Answer(ctx, store.AnswerInput{
		Session: in.Session.Key, Channel: in.Session.Channel, Message: in.Message,
		Reply: a.answer(ctx, in), Reset: in.Command == protocol.CommandNew,
		Stop:       in.Command == protocol.CommandNew || in.Command == protocol.CommandStop,
		WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID,
	})
	if err != nil {
		return protocol.AnswerResult{}, fmt.Errorf("answer /%s: %w", in.Command, err)
	}
	if in.Command == protocol.CommandNew {
		a.rememberAll(ctx, in.Session.Key)
	}
	a.Events.Publish(ctx, in.Message, event.Event{Kind: event.Done})
	return protocol.AnswerResult{Outbox: turn.Outbox, Answered: !fresh}, nil
}

const help = `I answer messages, using tools where they help. Commands:

- ` + "`/new`" + ` start afresh: stop what is running and forget this conversation
- ` + "`/stop`" + ` stop what is running
- ` + "`/status`" + ` what is running
- ` + "`/help`" + ` this text`

func (a *Agent) answer(ctx context.Context, in protocol.AnswerInput) string {
	switch in.Command {
	case protocol.CommandNew:
		return "New conversation."
	case protocol.CommandStop:
		if in.Stopped {
			return "Stopped."
		}
		return "Nothing is running."
	case protocol.CommandStatus:
		return status(in.Status) + a.children(ctx, in.Session.Key)
	default:
		return help
	}
}

func status(s *protocol.Status) string {
	switch {
	case s != nil && s.Turn == "" && len(s.Children) > 0:
		return "Waiting for subagents."
	case s == nil || s.Turn == "":
		return "Nothing is running."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Working: step %d (%s), %d tokens so far.", s.Step, s.Doing, s.Tokens)
	switch {
	case s.Queued == 1:
		b.WriteString(" One message is waiting.")
	case s.Queued > 1:
		fmt.Fprintf(&b, " %d messages are waiting.", s.Queued)
	}
	return b.String()
}

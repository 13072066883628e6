package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/prompt"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// Complete makes the model call of a step, unless its completion is stored already. The
// last one of a turn also stores the reply and makes the first attempt to deliver it.
func (a *Agent) Complete(ctx context.Context, in protocol.CompleteInput) (result protocol.CompleteResult, err error) {
	info := activity.GetInfo(ctx)
	defer recoverPanic(ctx, &err)
	live, done := a.attend(ctx, in.Turn)
	defer done()
	result, err = a.complete(live, in, info, attemptOf(ctx))
	if result.Final || result.Answered {
		result.Outbox = a.concludeTurn(live, in.Session, in.Turn, result.Outbox, in.Behind)
	}
	return result, failure(ctx, live, err)
}

// publishRetry publishes that a model call failed and will be retried, since the attempts
// may take minutes.
func (a *Agent) publishRetry(ctx context.Context, in protocol.CompleteInput, attempt int, err error) {
	failed := remote.As(err)
	if failed == nil || failed.Permanent() || attempt >= serviceTries {
		return
	}
	failure := fmt.Sprintf("attempt %d of %d failed: %v", attempt, serviceTries, err)
	a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.Retry, Step: in.Step, Text: text.Cut(failure, protocol.PreviewLimit)})
}

func (a *Agent) complete(ctx context.Context, in protocol.CompleteInput, info activity.Info, attempt int) (_ protocol.CompleteResult, err error) {
	failpoint.Hit("complete.start")
	pause := func(context.Context) {}
	defer func() {
		a.publishRetry(ctx, in, attempt, err)
		pause(context.WithoutCancel(ctx))
	}()
	if err := a.checkRunning(ctx, in.Session); err != nil {
		return protocol.CompleteResult{}, err
	}
	if err := a.enrich(ctx, in, attempt); err != nil {
		return protocol.CompleteResult{}, err
	}
	begun, err := a.begin(ctx, in, info)
	if err != nil {
		return protocol.CompleteResult{}, err
	}
	ended := begun.Turn.Status != domain.TurnRunning
	switch {
	case begun.Answered, ended && (arrivedLate(begun.Inbound, in.Messages) || callsTools(begun.Completion)):
		return protocol.CompleteResult{Answered: true, Outbox: begun.Turn.Outbox}, nil
	case begun.Completion != nil:
		return a.completed(ctx, in.Session, begun.Turn, *begun.Completion), nil
	case begun.Turn.Status == domain.TurnDone:
		return protocol.CompleteResult{Answered: true, Outbox: begun.Turn.Outbox}, nil
	case ended:
		return protocol.CompleteResult{}, store.ErrTurnEnded
	}
	pause = a.present(in.Session, channels.PresentedTurn{
		ID: in.Turn, Messages: begun.Inbound, Resumed: in.Step > 1 || info.Attempt > 1,
	})
	a.announce(ctx, begun, in)
	if begun.History, err = a.fillMissingResults(ctx, begun.History, in.Turn); err != nil {
		return protocol.CompleteResult{}, err
	}
	stored, err := a.call(ctx, in, &begun)
	if err != nil {
		return protocol.CompleteResult{}, err
	}
	if len(stored.ToolCalls) == 0 {
		a.consolidateFullWindow(ctx, begun)
		begun.Turn.Status, begun.Turn.EndedAt = domain.TurnDone, time.Now()
		a.turnEnded(ctx, in.Session.Channel, begun.Turn, begun.History)
		a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.Done})
	}
	return a.completed(ctx, in.Session, begun.Turn, stored), nil
}

func (a *Agent) begin(ctx context.Context, in protocol.CompleteInput, info activity.Info) (domain.Step, error) {
	begun, err := a.Store.Begin(ctx, store.BeginInput{
		Session: in.Session.Key, Channel: in.Session.Channel,
		Turn: in.Turn, Step: in.Step, Messages: in.Messages, Window: a.Model.Window, Scope: a.scopeOf(in.Session),
		WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID,
	})
	if err != nil {
		return domain.Step{}, fmt.Errorf("begin step %d: %w", in.Step, err)
	}
	return begun, nil
}

// arrivedLate reports whether the turn did not consume one of the messages, because it
// had ended before.
func arrivedLate(taken []domain.Inbound, messages []string) bool {
	return slices.ContainsFunc(messages, func(id string) bool {
		return !slices.ContainsFunc(taken, func(m domain.Inbound) bool { return m.ID == id })
	})
}

// callsTools reports whether a completion is not its turn's last.
func callsTools(completion *domain.Message) bool {
	return completion != nil && len(completion.ToolCalls) > 0
}

// call makes the model call, stores the completion and updates the turn's totals in begun.
func (a *Agent) call(ctx context.Context, in protocol.CompleteInput, begun *domain.Step) (domain.Message, error) {
	system, err := a.system(ctx, in.Session, *begun)
	if err != nil {
		return domain.Message{}, err
	}
	started := time.Now()
	failpoint.Hit("complete.before-model")
	response, err := a.ask(ctx, in, system, *begun)
	if err != nil {
		return domain.Message{}, err
	}
	failpoint.Hit("complete.after-model")
	calls := named(in, response.ToolCalls)
	if err := a.rejectTruncated(ctx, in, response.FinishReason, calls); err != nil {
		return domain.Message{}, err
	}
	completion := a.completion(response, started)
	completion.Turn, completion.Step, completion.Prompt = in.Turn, in.Step, system
	completion.Message = domain.Message{
		Turn: in.Turn, Step: in.Step, Role: domain.RoleAssistant,
		Content: response.Content, Reasoning: response.Reasoning, ToolCalls: calls,
	}
	completion.Final, completion.Reply = len(response.ToolCalls) == 0, response.Content
	completion.Silent = isHeartbeatOK(in.Session, response.Content)
	stored, outbox, err := a.saveCompletion(ctx, completion)
	if errors.Is(err, domain.ErrNotFound) { // the store crashed and lost the turn: its beginning is an asynchronous commit
		if _, err := a.begin(ctx, in, activity.GetInfo(ctx)); err != nil {
			return domain.Message{}, err
		}
		stored, outbox, err = a.saveCompletion(ctx, completion)
	}
	if err != nil {
		return domain.Message{}, fmt.Errorf("store the completion: %w", err)
	}
	failpoint.Hit("complete.stored")
	begun.Turn.Outbox = outbox
	begun.Turn.Steps++
	begun.Turn.AddCall(response.Usage, completion.Cost, completion.Priced)
	return stored, nil
}

// announce publishes that a step starts: watchers discard its text, and messages that joined
// belong to this turn.
func (a *Agent) announce(ctx context.Context, begun domain.Step, in protocol.CompleteInput) {
	for _, m := range begun.Inbound {
		if m.ID != in.Turn {
			a.Events.Publish(ctx, m.ID, event.Event{Kind: event.TurnJoined, Text: in.Turn})
		}
	}
	a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.Reset, Step: in.Step})
}

// fillMissingResults stores an error as the result of every call of the turn without one.
func (a *Agent) fillMissingResults(ctx context.Context, history []domain.Message, turn string) ([]domain.Message, error) {
	missing := prompt.Missing(history, turn)
	for _, m := range missing {
		m.Content, m.Failed, m.Filled = "No result: the call was interrupted and its outcome is unknown. Check before doing it again.", true, true
		stored, err := a.Store.SaveResult(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("store a missing result: %w", err)
		}
		history = append(history, stored)
	}
	return history, nil
}

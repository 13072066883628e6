package workflows

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// turn is the agent loop: a model call and the tool calls it asked for, until it asks for
// none. Its results are in the store; it holds only its position.
type turn struct {
	session domain.SessionRef
	model   string // for the UI
	limit   int    // of steps
	state   *protocol.TurnState
	joining func(workflow.Context) []protocol.MessageRef // takes the messages that join at this step boundary
	written func() bool                                  // whether there are such messages
	joined  []protocol.MessageRef                        // those that joined at the current step
	report  func(workflow.Context)                       // shows where the turn stands
	spawn   func(ctx workflow.Context, turn string, step int, call protocol.Call)
	doing   string // what runs now, for a person
	ended   string // how it ended, if not with the model's answer

	stopped bool                  // by a command, whose answer tells the user
	cancel  workflow.CancelFunc   // nil while the turn does not run
	dropped []protocol.MessageRef // were about to join when it was stopped
}

// outcome is how a run of a turn ended.
type outcome struct {
	outbox     string                // the reply to deliver, if any
	unfinished bool                  // the next run continues it
	untouched  []protocol.MessageRef // taken from the queue but not consumed
}

// run runs the turn to its end, or until the session continues as new.
func (t *turn) run(ctx workflow.Context) outcome {
	ctx, t.cancel = workflow.WithCancel(ctx)
	defer t.cancel()
	for ; t.state.Step <= t.limit; t.state.Step++ {
		if t.stopped { // before it ran, or between two runs
			return t.end(ctx, protocol.EndingStopped, "")
		}
		t.joined = t.joining(ctx)
		t.state.Messages = append(t.state.Messages, ids(t.joined)...)
		result, err := t.complete(ctx)
		if err != nil {
			return t.endFor(ctx, err)
		}
		t.state.Messages = nil
		t.account(result)
		switch {
		case result.Answered: // before; the messages that joined are not part of that answer
			return outcome{outbox: result.Outbox, untouched: t.joined}
		case result.Final:
			return outcome{outbox: result.Outbox}
		}
		if err := t.callTools(ctx, result.Calls); err != nil {
			return t.endFor(ctx, err)
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() && t.state.Step < t.limit {
			t.state.Step++
			return outcome{unfinished: true}
		}
	}
	setting := "agent.max_iterations"
	if t.session.Depth > 0 {
		setting = "agent.subagent_max_iterations"
	}
	return t.end(ctx, protocol.EndingLimit, fmt.Sprintf(
		"I reached the limit of %d model calls for one request without completing it. Ask me to go on, or raise %s.", t.limit, setting))
}

// halt stops the turn now, or as soon as it runs.
func (t *turn) halt() {
	t.stopped = true
	if t.cancel != nil {
		t.cancel()
	}
}

func (t *turn) complete(ctx workflow.Context) (protocol.CompleteResult, error) {
	t.show(ctx, fmt.Sprintf("%s · step %d", t.model, t.state.Step))
	return executeComplete(ctx, t.doing, protocol.CompleteInput{
		Session: t.session, Turn: t.state.ID, Step: t.state.Step, Messages: t.state.Messages,
	})
}

// account updates what the UI shows. The model is that of the turn's first step.
func (t *turn) account(result protocol.CompleteResult) {
	t.state.Tokens = result.Usage.PromptTokens + result.Usage.CompletionTokens
	t.state.Cost, t.state.Unpriced = result.Cost, result.Unpriced
	if result.Model != "" {
		t.model = result.Model
	}
}

// callTools makes a completion's calls, concurrently if all are read-only and otherwise in
// order. A failed activity does not end the turn: the next step tells the model that the
// call's outcome is unknown.
func (t *turn) callTools(ctx workflow.Context, calls []protocol.Call) error {
	parallel := !slices.ContainsFunc(calls, func(c protocol.Call) bool { return !c.ReadOnly })
	futures := make([]workflow.Future, 0, len(calls))
	for _, call := range calls {
		future := t.callTool(ctx, call, false)
		if !parallel {
			if err := t.wait(ctx, future, call); err != nil {
				return err
			}
			continue
		}
		futures = append(futures, future)
	}
	for i, future := range futures {
		if err := t.wait(ctx, future, calls[i]); err != nil {
			return err
		}
	}
	return nil
}

func (t *turn) callTool(ctx workflow.Context, call protocol.Call, withdrawn bool) workflow.Future {
	title := call.Name + ": " + call.Preview
	t.show(ctx, title)
	return executeCallTool(ctx, title, call, protocol.CallToolInput{
		Session: t.session, Turn: t.state.ID, Step: t.state.Step, Index: call.Index, Withdrawn: withdrawn,
	})
}

// wait waits for a call's result, including an approval, which may take days.
func (t *turn) wait(ctx workflow.Context, future workflow.Future, call protocol.Call) error {
	var result protocol.CallToolResult
	err := future.Get(ctx, &result)
	for err == nil && result.Approval != nil {
		withdrawn := t.approval(ctx, call, *result.Approval)
		result = protocol.CallToolResult{}
		err = t.callTool(ctx, call, withdrawn).Get(ctx, &result)
	}
	switch {
	case err == nil:
		if call.Kind == protocol.SpawnKind && !result.Failed {
			t.spawn(ctx, t.state.ID, t.state.Step, call)
		}
		return nil
	case ctx.Err() != nil:
		return err
	}
	workflow.GetLogger(ctx).Warn("tool call without a result", "tool", call.Name, "step", t.state.Step, "err", err)
	return nil
}

// endFor ends the turn after an error: the user stopped it, or it failed for good. The user
// is told in a sentence.
func (t *turn) endFor(ctx workflow.Context, err error) outcome {
	if ctx.Err() != nil {
		return t.end(ctx, protocol.EndingStopped, "")
	}
	reason := "The request could not be finished: " + err.Error()
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		reason = app.Message()
	}
	return t.end(ctx, protocol.EndingFailed, cut(reason, protocol.PreviewLimit))
}

func (t *turn) end(ctx workflow.Context, ending protocol.Ending, reason string) outcome {
	outbox, err := executeEndTurn(ctx, protocol.EndTurnInput{
		Session: t.session, Turn: t.state.ID, Messages: t.state.Messages,
		Ending: ending, Reason: reason, Silent: t.stopped,
	})
	if err != nil {
		workflow.GetLogger(ctx).Error("turn not closed", "turn", t.state.ID, "err", err)
	}
	t.ended = strings.TrimSuffix(string(ending)+": "+reason, ": ")
	return outcome{outbox: outbox}
}

// show shows in the UI what runs now.
func (t *turn) show(ctx workflow.Context, doing string) {
	t.doing = cut(doing, summaryLimit)
	t.report(ctx)
}

func ids(messages []protocol.MessageRef) []string {
	list := make([]string, len(messages))
	for i, m := range messages {
		list[i] = m.ID
	}
	return list
}

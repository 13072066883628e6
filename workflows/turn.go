package workflows

import (
	"errors"
	"fmt"
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
	canJoin func() bool            // whether the next message may join
	behind  func() bool            // whether earlier replies wait to be delivered
	report  func(workflow.Context) // shows where the turn stands
	spawn   func(ctx workflow.Context, turn string, step int, call protocol.Call)
	doing   string // what runs now, for a person
	ended   string // how it ended, if not with the model's answer

	continues func(workflow.Context) bool // whether to continue as new
	calling   int                         // number of calls being made; those that wait for approval are not
	questions []string                    // that are open, for a person
	decided   map[string]bool             // approvals that were decided, until their call is repeated

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

// run runs the turn to its end, or until the session continues as new. Joining returns the
// messages that join at a step boundary.
func (t *turn) run(ctx workflow.Context, joining func(workflow.Context) []protocol.MessageRef) outcome {
	ctx, t.cancel = workflow.WithCancel(ctx)
	defer t.cancel()
	workflow.Go(ctx, t.receiveDecisions)
	for ; t.state.Step <= t.limit; t.state.Step++ {
		if t.stopped { // before it ran, or between two runs
			return t.end(ctx, protocol.EndingStopped, "")
		}
		if len(t.state.Calls) == 0 {
			if end := t.next(ctx, joining); end != nil {
				return *end
			}
		}
		if err := t.callTools(ctx); err != nil {
			return t.endFor(ctx, err)
		}
		if len(t.state.Calls) > 0 {
			return outcome{unfinished: true}
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
		"I reached the limit of %d model calls for one request without completing it. Ask me to continue, or raise %s.", t.limit, setting))
}

// next asks the model for the calls of the step. It returns how the turn ended, or nil.
func (t *turn) next(ctx workflow.Context, joining func(workflow.Context) []protocol.MessageRef) *outcome {
	joined := joining(ctx)
	t.state.Messages = append(t.state.Messages, ids(joined)...)
	result, err := t.complete(ctx)
	if err != nil {
		end := t.endFor(ctx, err)
		return &end
	}
	t.state.Messages = nil
	t.account(result)
	t.state.Calls = result.Calls
	switch {
	case result.Answered: // by an earlier turn, without the messages that joined here
		return &outcome{outbox: result.Outbox, untouched: joined}
	case result.Final:
		return &outcome{outbox: result.Outbox}
	}
	return nil
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
		Session: t.session, Turn: t.state.ID, Step: t.state.Step, Messages: t.state.Messages, Behind: t.behind(),
	})
}

// account updates what the UI shows. The model is that of the turn's first step.
func (t *turn) account(result protocol.CompleteResult) {
	t.state.Tokens = result.Usage.Tokens()
	t.state.Cost, t.state.Unpriced = result.Cost, result.Unpriced
	if result.Model != "" {
		t.model = result.Model
	}
}

// endFor ends the turn after an error: the user stopped it, or it failed permanently. A
// sentence tells the user.
func (t *turn) endFor(ctx workflow.Context, err error) outcome {
	if ctx.Err() != nil {
		return t.end(ctx, protocol.EndingStopped, "")
	}
	reason := "The request could not be completed: " + err.Error()
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		reason = app.Message()
	}
	return t.end(ctx, protocol.EndingFailed, cut(reason, protocol.PreviewLimit))
}

func (t *turn) end(ctx workflow.Context, ending protocol.Ending, reason string) outcome {
	outbox, err := executeEndTurn(ctx, protocol.EndTurnInput{
		Session: t.session, Turn: t.state.ID, Messages: t.state.Messages,
		Ending: ending, Reason: reason, Silent: t.stopped, Behind: t.behind(),
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

package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// callTools makes the calls of the step, concurrently if all are read-only and otherwise in
// order. Those that wait for approval when the session has to continue as new stay in the
// state. A failed activity does not end the turn: the next step tells the model that the
// call's outcome is unknown.
func (t *turn) callTools(ctx workflow.Context) error {
	calls := slices.Clone(t.state.Calls)
	if slices.ContainsFunc(calls, func(c protocol.Call) bool { return !c.ReadOnly }) {
		for _, call := range calls {
			if done, err := t.call(ctx, call); err != nil || !done {
				return err
			}
		}
		return nil
	}
	var failed error
	group := workflow.NewWaitGroup(ctx)
	for _, call := range calls {
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			if _, err := t.call(ctx, call); err != nil {
				failed = err
			}
		})
	}
	group.Wait(ctx)
	return failed
}

// call makes a call and waits for its approval, if it needs one, which may take days. Done
// is false if the next run has to make the call. It fails only if the turn is cancelled.
func (t *turn) call(ctx workflow.Context, call protocol.Call) (done bool, err error) {
	result, err := t.callTool(ctx, call, false)
	for err == nil && result.Approval != nil {
		if !t.awaitAnswer(ctx, call, *result.Approval) {
			return false, nil
		}
		result, err = t.callTool(ctx, call, t.withdraws(result.Approval.ID))
	}
	switch {
	case err == nil:
		if call.Kind == protocol.SpawnKind && !result.Failed {
			t.spawn(ctx, t.state.ID, t.state.Step, call)
		}
	case ctx.Err() != nil:
		return false, err
	default:
		workflow.GetLogger(ctx).Warn("tool call without a result", "tool", call.Name, "step", t.state.Step, "err", err)
	}
	t.state.Calls = slices.DeleteFunc(t.state.Calls, func(c protocol.Call) bool { return c.Index == call.Index })
	return true, nil
}

func (t *turn) callTool(ctx workflow.Context, call protocol.Call, withdrawn bool) (result protocol.CallToolResult, err error) {
	t.calling++
	defer func() { t.calling-- }()
	title := call.Name + ": " + call.Preview
	t.show(ctx, title)
	result, err = executeCallTool(ctx, title, call, protocol.CallToolInput{
		Session: t.session, Turn: t.state.ID, Step: t.state.Step, Index: call.Index, Withdrawn: withdrawn,
	})
	t.showQuestions(ctx)
	return result, err
}

package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

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

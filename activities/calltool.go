package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/metrics"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// CallTool runs one tool call, unless its result is stored already. What the
// model should read, failures included, is a result; the activity fails only
// when another attempt may help.
func (a *Agent) CallTool(ctx context.Context, in protocol.CallToolInput) (result protocol.CallToolResult, err error) {
	attempt := int(activity.GetInfo(ctx).Attempt)
	live, done := startHeartbeat(ctx)
	defer done()
	defer recoverPanic(a.Logger, &err)
	result, err = a.callTool(live, in, attempt)
	if asked := result.Approval; asked != nil {
		asked.Outbox = a.deliverNow(live, asked.Channel, asked.Outbox)
	}
	return result, failure(ctx, live, err)
}

func (a *Agent) callTool(ctx context.Context, in protocol.CallToolInput, attempt int) (protocol.CallToolResult, error) {
	failpoint.Hit("tool.start")
	stored, found, err := a.Store.Result(ctx, in.Turn, in.Step, in.Index)
	if err != nil {
		return protocol.CallToolResult{}, fmt.Errorf("look for the result: %w", err)
	}
	if found {
		return called(stored), nil
	}
	completion, err := a.Store.Completion(ctx, in.Turn, in.Step)
	if err != nil {
		return protocol.CallToolResult{}, fmt.Errorf("read the call: %w", err)
	}
	if in.Index >= len(completion.ToolCalls) {
		return protocol.CallToolResult{}, fmt.Errorf("read the call: %w", domain.ErrNotFound)
	}
	pause := a.presentStep(ctx, in.Session, in.Turn, completion.Content)
	defer func() { pause(context.WithoutCancel(ctx)) }()
	call := completion.ToolCalls[in.Index]
	approval, refused, err := a.permit(ctx, in, call)
	if err != nil || approval != nil {
		return protocol.CallToolResult{Approval: approval}, err
	}
	a.publish(ctx, in.Session, in.Turn, event.Event{
		Kind: event.ToolStart, Tool: call.Name, Text: text.Cut(title(ctx, a.tools(in.Session), call), protocol.PreviewLimit),
		Step: in.Step, ID: domain.ApprovalID(domain.CallKey(in.Turn, in.Step, in.Index)),
	})
	failpoint.Hit("tool.before")
	result := tool.Result{Text: refused, Failed: true}
	if refused == "" {
		if result, err = a.runTool(ctx, in, call, attempt); err != nil {
			return protocol.CallToolResult{}, err
		}
	}
	failpoint.Hit("tool.after")
	if stored, err = a.Store.SaveResult(ctx, a.resultRow(in, call, result)); err != nil {
		return protocol.CallToolResult{}, fmt.Errorf("store the result: %w", err)
	}
	failpoint.Hit("tool.stored")
	a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.ToolDone, Tool: call.Name, Text: text.Cut(stored.Content, protocol.PreviewLimit), Step: in.Step})
	return called(stored), nil
}

// runTool makes one attempt at a call. An error is one that another attempt may
// cure; everything else is the model's to read.
func (a *Agent) runTool(ctx context.Context, in protocol.CallToolInput, call domain.ToolCall, attempt int) (tool.Result, error) {
	t, err := a.tools(in.Session).Lookup(ctx, call.Name)
	if err != nil {
		return tool.Result{Text: err.Error(), Failed: true}, nil
	}
	j := &journal{store: a.Store, turn: in.Turn, call: domain.CallKey(in.Turn, in.Step, in.Index)}
	if t.Kind == tool.Once {
		_, fresh, err := j.Intend(ctx, "call", nil)
		switch {
		case err != nil:
			return tool.Result{}, err
		case !fresh:
			return tool.Result{Text: tool.ErrOutcomeUnknown.Error(), Failed: true}, nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, t.Limit([]byte(call.Arguments)))
	defer cancel()
	started := time.Now()
	result, err := a.run(ctx, t, tool.Call{
		Key: j.call, Session: in.Session.Key, Attempt: attempt,
		Arguments: json.RawMessage(call.Arguments), Journal: j,
		Progress: func(progress string) {
			a.publish(ctx, in.Session, in.Turn, event.Event{Kind: event.ToolProgress, Tool: call.Name, Text: text.Cut(progress, protocol.PreviewLimit), Step: in.Step})
		},
	})
	outcome := metrics.OK
	switch {
	case err != nil && retryTool(ctx, err, attempt):
		outcome, result = metrics.Retried, tool.Result{}
	case err != nil:
		outcome, result, err = metrics.Failed, tool.Result{Text: err.Error(), Failed: true}, nil
	case result.Failed:
		outcome = metrics.Failed
	}
	a.Metrics.ToolCalled(t.Spec.Name, outcome, time.Since(started))
	return result, err
}

// run makes the call. A tool that panics has failed, as the model is told.
func (a *Agent) run(ctx context.Context, t tool.Tool, call tool.Call) (result tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.Logger.Error("panic in a tool", "tool", t.Spec.Name, "call", call.Key, "panic", p, "stack", string(debug.Stack()))
			result, err = tool.Result{}, fmt.Errorf("%s broke in the middle, its outcome is unknown: %v", t.Spec.Name, p)
		}
	}()
	return t.Run(ctx, call)
}

// retryTool reports whether a tool's error is for another attempt to cure and
// not for the model to read.
func retryTool(ctx context.Context, err error, attempt int) bool {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return true
	}
	if errors.Is(err, tool.ErrRetry) {
		return true
	}
	failed := remote.As(err)
	return failed != nil && !failed.Permanent() && attempt < toolTries
}

// toolTries is how many attempts a service that a tool calls gets before the
// model is told that it fails.
const toolTries = 3

func called(m domain.Message) protocol.CallToolResult {
	return protocol.CallToolResult{Preview: text.Preview(m.Content, protocol.PreviewLimit), Failed: m.Failed}
}

// journal is a [tool.Journal] in the store.
type journal struct {
	store *store.Store
	turn  string
	call  string
}

// Intend implements [tool.Journal].
func (j *journal) Intend(ctx context.Context, part string, intent []byte) ([]byte, bool, error) {
	stored, fresh, err := j.store.Intend(ctx, store.Intent{Turn: j.turn, Call: j.call, Part: part, Data: intent})
	if err != nil {
		return nil, false, fmt.Errorf("record what is about to be done: %w", err)
	}
	if fresh {
		failpoint.Hit("tool.intended")
	}
	return stored, fresh, nil
}

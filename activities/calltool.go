package activities

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

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

// CallTool runs one tool call, unless its result is stored already. A failure that the
// model should see is a result; the activity fails only if another attempt may succeed.
func (a *Agent) CallTool(ctx context.Context, in protocol.CallToolInput) (result protocol.CallToolResult, err error) {
	attempt := attemptOf(ctx)
	defer recoverPanic(ctx, &err)
	live, done := a.attend(ctx, in.Turn)
	defer done()
	result, err = a.callTool(live, in, attempt)
	if asked := result.Approval; asked != nil {
		asked.Outbox = a.deliverNow(live, asked.Channel, asked.Outbox)
	}
	return result, failure(ctx, live, err)
}

func (a *Agent) callTool(ctx context.Context, in protocol.CallToolInput, attempt int) (protocol.CallToolResult, error) {
	failpoint.Hit("tool.start")
	stored, found, err := a.Store.Result(ctx, in.Turn, in.Step, in.Index)
	if err != nil || found {
		return called(stored), err
	}
	completion, err := a.Store.Completion(ctx, in.Turn, in.Step)
	if err == nil && in.Index >= len(completion.ToolCalls) {
		err = domain.ErrNotFound
	}
	if err != nil {
		return protocol.CallToolResult{}, fmt.Errorf("read the call: %w", err)
	}
	pause := a.presentStep(ctx, in.Session, in.Turn, completion.Content)
	defer func() { pause(context.WithoutCancel(ctx)) }()
	tools, err := a.toolsOf(ctx, in.Session, in.Turn)
	if err != nil {
		return protocol.CallToolResult{}, err
	}
	call := resolve(ctx, tools, completion.ToolCalls[in.Index])
	approval, rejection, err := a.permit(ctx, in, call)
	if err != nil || approval != nil {
		return protocol.CallToolResult{Approval: approval}, err
	}
	a.publishCall(ctx, in, event.Event{Kind: event.ToolStart, Tool: call.Name, Text: call.title, ID: domain.ApprovalID(in.Key())})
	failpoint.Hit("tool.before")
	result := tool.Result{Text: rejection, Failed: true}
	if rejection == "" {
		if result, err = a.runTool(ctx, in, call, attempt); err != nil {
			if elsewhere, is := errors.AsType[*tool.ElsewhereError](err); is {
				return protocol.CallToolResult{Place: elsewhere.Place}, nil
			}
			return protocol.CallToolResult{}, err
		}
	}
	failpoint.Hit("tool.after")
	if stored, err = a.saveResult(ctx, a.resultRow(in, call.ToolCall, result)); err != nil {
		return protocol.CallToolResult{}, fmt.Errorf("store the result: %w", err)
	}
	failpoint.Hit("tool.stored")
	a.publishCall(ctx, in, event.Event{Kind: event.ToolDone, Tool: call.Name, Text: stored.Content})
	return called(stored), nil
}

// publishCall publishes an event of a call, with the beginning of its text.
func (a *Agent) publishCall(ctx context.Context, in protocol.CallToolInput, e event.Event) {
	e.Step, e.Text = in.Step, text.Cut(e.Text, protocol.PreviewLimit)
	a.publish(ctx, in.Session, in.Turn, e)
}

// runTool makes one attempt at a call. It returns an error if another attempt may
// succeed; any other failure is a result for the model.
func (a *Agent) runTool(ctx context.Context, in protocol.CallToolInput, call resolvedCall, attempt int) (tool.Result, error) {
	if call.unknown != nil {
		return failedResult(call.unknown), nil
	}
	j := &journal{store: a.Store, turn: in.Turn, call: in.Key()}
	made := tool.Call{
		Key: j.call, Session: in.Session.Key, Attempt: attempt, Tried: in.Tried,
		Arguments: json.RawMessage(call.Arguments), Journal: j,
		Progress: func(progress string) {
			a.publishCall(ctx, in, event.Event{Kind: event.ToolProgress, Tool: call.Name, Text: progress})
		},
	}
	underway := false
	if call.tool.Place != nil {
		var err error
		if underway, err = call.tool.Place(ctx, made); err != nil {
			return tool.Result{}, err
		}
	}
	if call.tool.Kind == tool.Once && !underway {
		_, fresh, err := j.Intend(ctx, "call", nil)
		if err != nil {
			return tool.Result{}, err
		}
		if !fresh {
			return failedResult(tool.ErrOutcomeUnknown), nil
		}
	}
	if call.tool.Detached {
		var cancel context.CancelFunc
		ctx, cancel = untilStop(ctx)
		defer cancel()
	}
	ctx, cancel := context.WithTimeout(ctx, call.tool.Limit([]byte(call.Arguments)))
	defer cancel()
	if err := tool.Check(ctx); err != nil {
		return tool.Result{}, err
	}
	started := time.Now()
	result, err := a.run(ctx, call.tool, made)
	if elsewhere, is := errors.AsType[*tool.ElsewhereError](err); is && !slices.Contains(in.Tried, elsewhere.Place) {
		return tool.Result{}, err
	}
	outcome := metrics.OK
	switch {
	case err != nil && retryTool(ctx, err, attempt):
		outcome, result = metrics.Retried, tool.Result{}
	case err != nil:
		outcome, result, err = metrics.Failed, failedResult(err), nil
	case result.Failed:
		outcome = metrics.Failed
	}
	a.Metrics.ToolCalled(call.tool.Spec.Name, outcome, time.Since(started))
	return result, err
}

// failedResult returns an error as a result for the model.
func failedResult(err error) tool.Result { return tool.Result{Text: err.Error(), Failed: true} }

// run calls the tool and turns a panic into an error.
func (a *Agent) run(ctx context.Context, t tool.Tool, call tool.Call) (result tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.Logger.Error("panic in a tool", "tool", t.Spec.Name, "call", call.Key, "panic", p, "stack", string(debug.Stack()))
			result, err = tool.Result{}, fmt.Errorf("%s crashed, its outcome is unknown: %v", t.Spec.Name, p)
		}
	}()
	return t.Run(ctx, call)
}

// retryTool reports whether to retry a call that failed with err, rather than return the
// error to the model.
func retryTool(ctx context.Context, err error, attempt int) bool {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return true
	}
	if errors.Is(err, tool.ErrRetry) {
		return true
	}
	service := remote.As(err)
	return service != nil && !service.Permanent() && attempt < toolTries
}

// toolTries bounds the attempts at a service that a tool calls.
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
		return nil, false, fmt.Errorf("record the intent: %w", err)
	}
	if fresh {
		failpoint.Hit("tool.intended")
	}
	return stored, fresh, nil
}

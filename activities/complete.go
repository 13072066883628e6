package activities

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/holdfast-ai/holdfast/internal/event"
	"github.com/holdfast-ai/holdfast/internal/failpoint"
	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/prompt"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// callLimit bounds the tool calls of one completion, so that they fit a payload.
// The model that asks for more sees the results of the first ones and can go on.
const callLimit = 32

// Complete makes the model call of a step, unless its completion is stored
// already. The last one of a turn stores the reply too.
func (a *Agent) Complete(ctx context.Context, in protocol.CompleteInput) (result protocol.CompleteResult, err error) {
	info := activity.GetInfo(ctx)
	live, done := alive(ctx)
	defer done()
	defer caught(a.Logger, &err)
	result, err = a.complete(live, in, info)
	a.tellRetry(ctx, in, int(info.Attempt), err)
	return result, failure(ctx, live, err)
}

// tellRetry tells who watches that a model call failed and will be made again:
// the attempts may take minutes.
func (a *Agent) tellRetry(ctx context.Context, in protocol.CompleteInput, attempt int, err error) {
	failed := remote.As(err)
	if failed == nil || failed.Permanent() || attempt >= serviceTries {
		return
	}
	text := fmt.Sprintf("attempt %d of %d failed: %v", attempt, serviceTries, err)
	a.Events.Publish(ctx, in.Turn, event.Event{Kind: event.Retry, Step: in.Step, Text: protocol.Cut(text, protocol.PreviewLimit)})
}

func (a *Agent) complete(ctx context.Context, in protocol.CompleteInput, info activity.Info) (protocol.CompleteResult, error) {
	failpoint.Hit("complete.start")
	if err := a.checkRunning(ctx, in.Session); err != nil {
		return protocol.CompleteResult{}, err
	}
	if err := a.gather(ctx, in, int(info.Attempt)); err != nil {
		return protocol.CompleteResult{}, err
	}
	begun, err := a.Store.Begin(ctx, store.BeginInput{
		Session: in.Session.Key, Channel: in.Session.Channel,
		Turn: in.Turn, Step: in.Step, Messages: in.Messages, Window: a.Window,
		WorkflowID: info.WorkflowExecution.ID, RunID: info.WorkflowExecution.RunID,
	})
	if err != nil {
		return protocol.CompleteResult{}, fmt.Errorf("begin step %d: %w", in.Step, err)
	}
	ended := begun.Turn.Status != store.TurnRunning
	switch {
	case begun.Answered, ended && leftOut(begun.Inbound, in.Messages):
		return protocol.CompleteResult{Answered: true, Outbox: begun.Turn.Outbox}, nil
	case begun.Completion != nil:
		return a.completed(in.Session, begun.Turn, *begun.Completion), nil
	case begun.Turn.Status == store.TurnDone:
		return protocol.CompleteResult{Answered: true, Outbox: begun.Turn.Outbox}, nil
	case ended:
		return protocol.CompleteResult{}, store.ErrTurnEnded
	}
	a.announce(ctx, begun, in)
	if begun.History, err = a.fill(ctx, begun.History, in.Turn); err != nil {
		return protocol.CompleteResult{}, err
	}
	stored, err := a.call(ctx, in, &begun)
	if err != nil {
		return protocol.CompleteResult{}, err
	}
	if len(stored.ToolCalls) == 0 {
		a.Events.Publish(ctx, in.Turn, event.Event{Kind: event.Done})
	}
	return a.completed(in.Session, begun.Turn, stored), nil
}

// leftOut reports whether one of the messages is not among those that a turn has
// taken in: it came after the turn had ended.
func leftOut(taken []store.Inbound, messages []string) bool {
	return slices.ContainsFunc(messages, func(id string) bool {
		return !slices.ContainsFunc(taken, func(m store.Inbound) bool { return m.ID == id })
	})
}

// call asks the model and stores what it says, and brings the turn up to date.
func (a *Agent) call(ctx context.Context, in protocol.CompleteInput, begun *store.Begun) (store.Message, error) {
	system, err := a.system(in.Session)
	if err != nil {
		return store.Message{}, err
	}
	started := time.Now()
	failpoint.Hit("complete.before-model")
	response, err := a.ask(ctx, in, system, *begun)
	if err != nil {
		return store.Message{}, err
	}
	failpoint.Hit("complete.after-model")
	calls := named(in, response.ToolCalls)
	if err := a.refuseCut(ctx, in, response.FinishReason, calls); err != nil {
		return store.Message{}, err
	}
	stored, outbox, err := a.Store.SaveCompletion(ctx, store.Completion{
		Turn: in.Turn, Step: in.Step,
		Message: store.Message{
			Turn: in.Turn, Step: in.Step, Role: llm.RoleAssistant,
			Content: response.Content, Reasoning: response.Reasoning, ToolCalls: calls,
		},
		Provider: a.Name, Model: response.Model, Usage: response.Usage, Duration: time.Since(started),
		Prompt: system,
		Final:  len(response.ToolCalls) == 0,
		Reply:  response.Content,
	})
	if err != nil {
		return store.Message{}, fmt.Errorf("store the completion: %w", err)
	}
	failpoint.Hit("complete.stored")
	begun.Turn.Outbox = outbox
	begun.Turn.Usage.PromptTokens += response.Usage.PromptTokens
	begun.Turn.Usage.CompletionTokens += response.Usage.CompletionTokens
	return stored, nil
}

// refuseCut answers a completion's last call when the completion was cut by its
// limit of tokens: the arguments may be half of what the model meant. It comes
// before the completion is stored, so that the call cannot be run in between.
func (a *Agent) refuseCut(ctx context.Context, in protocol.CompleteInput, finish string, calls []llm.ToolCall) error {
	if finish != finishLength || len(calls) == 0 {
		return nil
	}
	last := len(calls) - 1
	_, err := a.Store.SaveResult(ctx, store.Message{
		Turn: in.Turn, Step: in.Step, Index: last, Role: llm.RoleTool, CallID: calls[last].ID, Name: calls[last].Name,
		Content: fmt.Sprintf("Not run: the completion was cut at its limit of %d tokens, so the arguments may be incomplete. Do it in smaller pieces.", a.MaxTokens),
		Failed:  true, Filled: true,
	})
	if err != nil {
		return fmt.Errorf("refuse a call that was cut: %w", err)
	}
	return nil
}

// finishLength is the finish reason of a completion that was cut.
const finishLength = "length"

// ask makes one model call. A conversation that is too long for the model is
// shortened from its old end, down to the running turn.
func (a *Agent) ask(ctx context.Context, in protocol.CompleteInput, system string, begun store.Begun) (llm.Response, error) {
	earlier := 0
	for _, m := range begun.History {
		if m.Turn != in.Turn {
			earlier++
		}
	}
	conversation := prompt.Conversation{
		System: system, Begun: begun, Turn: in.Turn, Window: min(a.Window, earlier), Now: time.Now(), Images: a.images(begun.Inbound),
	}
	for ; ; conversation.Window /= 2 {
		response, err := a.Provider.Complete(ctx, llm.Request{
			Model:       a.Model,
			Messages:    prompt.Messages(conversation),
			Tools:       a.tools(in.Session).Specs(),
			MaxTokens:   a.MaxTokens,
			Temperature: a.Temperature,
		}, func(d llm.Delta) {
			if d.Text != "" {
				a.Events.Publish(ctx, in.Turn, event.Event{Kind: event.Text, Text: d.Text, Step: in.Step})
			}
		})
		if !errors.Is(err, llm.ErrTooLong) || conversation.Window == 0 {
			return response, err
		}
		a.Logger.Info("conversation too long for the model", "session", in.Session.Key, "turn", in.Turn, "window", conversation.Window)
	}
}

// system is the system prompt of a session's turns.
func (a *Agent) system(session protocol.SessionRef) (string, error) {
	input := prompt.Input{Workspace: a.Workspace, OS: runtime.GOOS, Arch: runtime.GOARCH}
	if session.Depth > 0 {
		return prompt.Subagent(input), nil
	}
	var err error
	if input.Files, err = prompt.Load(a.Workspace); err != nil {
		return "", fmt.Errorf("read the workspace: %w", err)
	}
	return prompt.System(input), nil
}

// announce tells who watches that a step starts: its text starts anew, and the
// messages that joined are answered by this turn.
func (a *Agent) announce(ctx context.Context, begun store.Begun, in protocol.CompleteInput) {
	for _, m := range begun.Inbound {
		if m.ID != in.Turn {
			a.Events.Publish(ctx, m.ID, event.Event{Kind: event.TurnJoined, Text: in.Turn})
		}
	}
	a.Events.Publish(ctx, in.Turn, event.Event{Kind: event.Reset, Step: in.Step})
}

// fill gives every tool call of the turn that has no result one that says so.
func (a *Agent) fill(ctx context.Context, history []store.Message, turn string) ([]store.Message, error) {
	missing := prompt.Missing(history, turn)
	for _, m := range missing {
		m.Content, m.Failed, m.Filled = "No result: the call was interrupted and its outcome is unknown. Check before doing it again.", true, true
		stored, err := a.Store.SaveResult(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("fill a missing result: %w", err)
		}
		history = append(history, stored)
	}
	return history, nil
}

// completed is a stored completion as the workflow and the UI see it, with each
// call resolved: how it may be retried, for how long it may run.
func (a *Agent) completed(session protocol.SessionRef, turn store.Turn, m store.Message) protocol.CompleteResult {
	result := protocol.CompleteResult{
		Preview: protocol.Preview(m.Content, protocol.PreviewLimit),
		Final:   len(m.ToolCalls) == 0,
		Outbox:  turn.Outbox,
		Model:   a.Name + "/" + a.Model,
		Usage:   protocol.Usage(turn.Usage),
	}
	tools := a.tools(session)
	for i, call := range m.ToolCalls {
		resolved := protocol.Call{Index: i, Name: call.Name, Kind: "unknown", ReadOnly: true, Timeout: time.Minute}
		if t, err := tools.Lookup(call.Name); err == nil {
			resolved.Kind, resolved.ReadOnly, resolved.Timeout = string(t.Kind), t.ReadOnly, t.Limit([]byte(call.Arguments))
		}
		resolved.Preview = protocol.Preview(title(tools, call), previewShare(len(m.ToolCalls)))
		result.Calls = append(result.Calls, resolved)
	}
	return result
}

// title is what a person is shown of a call's arguments.
func title(tools *tool.Registry, call llm.ToolCall) string {
	t, err := tools.Lookup(call.Name)
	if err != nil {
		return call.Arguments
	}
	return t.Title([]byte(call.Arguments))
}

// notInName matches what providers do not take in the name of a tool.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

const (
	// nameLimit bounds the name of a call, as providers do; callCost is what each
	// call takes up in a payload besides its arguments.
	nameLimit = 64
	callCost  = nameLimit + 110
	// resultCost is what a completion takes up in a payload besides its calls.
	resultCost = protocol.PreviewLimit + 500
)

// previewShare is how much of each of n calls' arguments the UI is shown, so that
// all fit a payload.
func previewShare(n int) int {
	return min(protocol.PreviewLimit/2, (protocol.PayloadLimit-resultCost)/max(n, 1)-callCost)
}

// named gives each call our own ID, which no other call of the session has:
// providers repeat theirs, leave them out, or refuse ones that come again. A name
// that no tool can have is changed to one that they take, for they would refuse
// the transcript ever after.
func named(in protocol.CompleteInput, calls []llm.ToolCall) []llm.ToolCall {
	calls = calls[:min(len(calls), callLimit)]
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%.9s_%d_%d", in.Turn, in.Step, i)
		name := notInName.ReplaceAllString(calls[i].Name, "_")
		calls[i].Name = name[:min(len(name), nameLimit)]
	}
	return calls
}

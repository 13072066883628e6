package activities

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/text"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// callLimit bounds the tool calls of one completion, so that they fit a payload.
// A model that asks for more sees the results of the first ones.
const callLimit = 32

// rejectTruncated stores an error as the result of the last call of a completion that
// reached its token limit, since the call's arguments may be truncated. It runs before
// the completion is stored, so that the call cannot be made in between.
func (a *Agent) rejectTruncated(ctx context.Context, in protocol.CompleteInput, finish string, calls []domain.ToolCall) error {
	if finish != finishLength || len(calls) == 0 {
		return nil
	}
	last := len(calls) - 1
	_, err := a.saveResult(ctx, domain.Message{
		Turn: in.Turn, Step: in.Step, Index: last, Role: domain.RoleTool, CallID: calls[last].ID, Name: calls[last].Name,
		Content: fmt.Sprintf("Not run: the completion was cut at its limit of %d tokens, so the arguments may be incomplete. Do it in smaller pieces.", a.Model.MaxTokens),
		Failed:  true, Filled: true,
	})
	if err != nil {
		return fmt.Errorf("reject a truncated call: %w", err)
	}
	return nil
}

// finishLength is the finish reason of a completion that reached its token limit.
const finishLength = "length"

// completed returns a stored completion as the workflow's result, with the kind, timeout
// and title of each call.
func (a *Agent) completed(ctx context.Context, session domain.SessionRef, turn domain.Turn, m domain.Message) protocol.CompleteResult {
	result := protocol.CompleteResult{
		Preview: text.Preview(m.Content, protocol.PreviewLimit),
		Final:   len(m.ToolCalls) == 0,
		Outbox:  turn.Outbox,
		Model:   cmp.Or(turn.Model, a.Model.Title()),
		Usage:   turn.Usage,
		Cost:    turn.Cost, Unpriced: turn.Unpriced,
	}
	for i, stored := range m.ToolCalls {
		call := protocol.Call{Index: i, Name: stored.Name, Kind: "unknown", ReadOnly: true, Timeout: time.Minute}
		resolved := resolve(ctx, a.tools(session), stored)
		if t := resolved.tool; resolved.unknown == nil {
			call.Kind, call.ReadOnly, call.Timeout = string(t.Kind), t.ReadOnly, t.Limit([]byte(stored.Arguments))
		}
		call.Preview = text.Preview(resolved.title, previewShare(len(m.ToolCalls)))
		result.Calls = append(result.Calls, call)
	}
	return result
}

// resolvedCall is a tool call with its tool.
type resolvedCall struct {
	domain.ToolCall
	tool    tool.Tool
	unknown error  // not nil: there is no such tool
	title   string // displayed form of the arguments
}

func resolve(ctx context.Context, tools *tool.Registry, call domain.ToolCall) resolvedCall {
	r := resolvedCall{ToolCall: call, title: call.Arguments}
	if r.tool, r.unknown = tools.Lookup(ctx, call.Name); r.unknown == nil {
		r.title = r.tool.Title([]byte(call.Arguments))
	}
	return r
}

// notInName matches characters that providers reject in tool names.
var notInName = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

const (
	// nameLimit bounds the name of a call, as providers do; callCost is the payload size
	// of a call without its arguments.
	nameLimit = 64
	callCost  = nameLimit + 110
	// resultCost is the payload size of a completion without its calls.
	resultCost = protocol.PreviewLimit + 500
)

// previewShare returns the limit for each preview of n calls, so that all fit into one
// payload.
func previewShare(n int) int {
	return min(protocol.PreviewLimit/2, (protocol.PayloadLimit-resultCost)/max(n, 1)-callCost)
}

// named gives each call an ID that is unique in the session: providers repeat or omit
// theirs, and reject repeated ones. It also replaces invalid names, with which
// providers would reject the transcript from then on.
func named(in protocol.CompleteInput, calls []domain.ToolCall) []domain.ToolCall {
	calls = calls[:min(len(calls), callLimit)]
	for i := range calls {
		calls[i].ID = fmt.Sprintf("call_%.9s_%d_%d", in.Turn, in.Step, i)
		name := notInName.ReplaceAllString(calls[i].Name, "_")
		calls[i].Name = name[:min(len(name), nameLimit)]
	}
	return calls
}

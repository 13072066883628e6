package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/holdfast-ai/holdfast/internal/llm"
	"github.com/holdfast-ai/holdfast/internal/remote"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

const (
	// margin is added to a server's timeout for the call's, since our own timeout has
	// the better error message.
	margin       = 5 * time.Second
	probeTimeout = 10 * time.Second
)

// tool converts a server's tool.
func (s *server) tool(t *sdk.Tool) tool.Tool {
	schema, usable := newSchema(t.InputSchema)
	if !usable {
		s.log.Warn("mcp tool has no usable argument schema", "tool", t.Name)
	}
	kind, readOnly := kindOf(t.Annotations)
	name := toolName(s.Name, t.Name, s.names)
	made := tool.Tool{
		Spec: llm.ToolSpec{
			Name:        name,
			Description: cmp.Or(strings.TrimSpace(t.Description), t.Title, t.Name+" of the server "+s.Name),
			Parameters:  schema.parameters,
		},
		Kind: kind, ReadOnly: readOnly, Destructive: destructive(t.Annotations), Timeout: s.Timeout + margin, Main: schema.main,
		Run: func(ctx context.Context, call tool.Call) (tool.Result, error) {
			arguments, err := schema.check(call.Arguments)
			if err != nil {
				return tool.Result{}, fmt.Errorf("invalid arguments for %s: %w", name, err)
			}
			return s.call(ctx, kind, t.Name, arguments, call)
		},
	}
	if s.placed() {
		return s.home.at(made, always)
	}
	return made
}

// kindOf derives a tool's kind from the server's hints. A tool without hints may do
// anything.
func kindOf(hints *sdk.ToolAnnotations) (kind tool.Kind, readOnly bool) {
	switch {
	case hints == nil:
		return tool.Once, false
	case hints.ReadOnlyHint:
		return tool.Repeatable, true
	case hints.IdempotentHint:
		return tool.Repeatable, false
	default:
		return tool.Once, false
	}
}

// destructive reports whether a tool may be destructive, which is the protocol's
// default.
func destructive(hints *sdk.ToolAnnotations) bool {
	return hints == nil || !hints.ReadOnlyHint && (hints.DestructiveHint == nil || *hints.DestructiveHint)
}

func (s *server) call(ctx context.Context, kind tool.Kind, name string, arguments json.RawMessage, call tool.Call) (tool.Result, error) {
	params := &sdk.CallToolParams{Name: name, Arguments: arguments}
	if call.Progress != nil && call.Key != "" {
		params.SetProgressToken(call.Key)
		s.shown.Store(call.Key, call.Progress)
		defer s.shown.Delete(call.Key)
	}
	answer, err := ask(ctx, s, kind, func(ctx context.Context, session *sdk.ClientSession) (*sdk.CallToolResult, error) {
		return session.CallTool(ctx, params)
	})
	if err != nil {
		return tool.Result{}, err
	}
	return toolResult(answer), nil
}

// progress passes on a call's progress notification.
func (s *server) progress(_ context.Context, request *sdk.ProgressNotificationClientRequest) {
	show, found := s.shown.Load(request.Params.ProgressToken)
	if !found {
		return
	}
	line := request.Params.Message
	if total := request.Params.Total; line == "" && total > 0 {
		line = fmt.Sprintf("%g of %g", request.Params.Progress, total)
	}
	if line != "" {
		show.(func(string))(line)
	}
}

// ask makes one request, within the server's timeout. If the session ended before
// the server received the request, it reconnects once.
func ask[T any](ctx context.Context, s *server, kind tool.Kind, request func(context.Context, *sdk.ClientSession) (T, error)) (T, error) {
	own, cancel := context.WithTimeoutCause(ctx, s.Timeout, errTooSlow)
	defer cancel()
	answer, again, err := askOnce(own, s, request)
	if again {
		answer, _, err = askOnce(own, s, request)
	}
	if err != nil {
		return answer, s.verdict(ctx, own, kind, err)
	}
	return answer, nil
}

func askOnce[T any](ctx context.Context, s *server, request func(context.Context, *sdk.ClientSession) (T, error)) (answer T, again bool, err error) {
	session, err := s.connected(ctx)
	if err != nil {
		return answer, false, unsent{err}
	}
	bound, release := session.bind(ctx)
	defer release()
	bound, sent := withMark(bound)
	answer, err = within(bound, func() (T, error) { return request(bound, session.sdk) })
	switch {
	case err == nil:
		return answer, false, nil
	case ctx.Err() != nil:
		if errors.Is(context.Cause(ctx), errTooSlow) {
			session.probe(ctx, min(s.Timeout, probeTimeout))
		}
		return answer, false, err
	case sent.Load() == 0 && remote.As(err) == nil:
		session.drop(errLost)
		return answer, true, unsent{errLost}
	case sent.Load() == 0:
		return answer, false, unsent{err}
	}
	if reason := session.why(); reason != "" && !answered(err) {
		err = errors.New(reason)
	}
	return answer, false, err
}

// awaitedTool returns a tool that waits for its server, one of those given, which
// were not reached yet.
func awaitedTool(name string, servers []*server) tool.Tool {
	t := tool.Tool{Spec: llm.ToolSpec{Name: name, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}, Kind: tool.Once, Destructive: true}
	for _, s := range servers {
		t.Timeout = max(t.Timeout, s.Timeout+margin)
	}
	t.Run = func(ctx context.Context, call tool.Call) (tool.Result, error) {
		for _, s := range servers {
			own, cancel := context.WithTimeoutCause(ctx, s.Timeout, errTooSlow)
			_, err := s.connected(own)
			if err != nil {
				err = s.verdict(ctx, own, t.Kind, unsent{err})
			}
			cancel()
			if err != nil {
				return tool.Result{}, err
			}
			for _, known := range s.known().tools {
				if known.Spec.Name == name {
					return known.Run(ctx, call)
				}
			}
		}
		return tool.Result{}, fmt.Errorf("unknown tool %q", name)
	}
	return t
}

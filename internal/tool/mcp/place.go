package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/holdfast-ai/holdfast/internal/tool"
)

// Places records where the processes of servers run that a conversation uses: they may hold
// state of it, such as open pages. The store implements it.
type Places interface {
	// SessionPlaces returns where the background commands of a conversation run, and where
	// its servers do; empty: it has none.
	SessionPlaces(ctx context.Context, session string) (commands, servers string, err error)
	// MoveServers records that its servers run at another place, unless that was changed
	// meanwhile. It returns where they run now.
	MoveServers(ctx context.Context, session, from, to string) (place string, err error)
	// LeaveServers records that the servers at a place end.
	LeaveServers(ctx context.Context, place string) error
}

// home is the place of this process's servers, to which their calls are sent.
type home struct {
	places Places
	here   string
	log    *slog.Logger

	underway flights

	mu   sync.Mutex
	left bool // no conversation may come here any more
}

// keep returns an [tool.ElsewhereError] if the servers that a conversation uses run at
// another place. A conversation that uses none comes here, or to its commands, which a
// server may have to reach. So does one whose place does not answer.
func (h *home) keep(ctx context.Context, call tool.Call) error {
	commands, at, err := h.places.SessionPlaces(ctx, call.Session)
	if err != nil {
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	to := cmp.Or(at, commands, h.here)
	if slices.Contains(call.Tried, to) {
		to = h.here
	}
	if to != at {
		if at, err = h.move(ctx, call.Session, at, to); err != nil {
			return fmt.Errorf("%w: %w", tool.ErrRetry, err)
		}
	}
	if at == h.here || at == "" || slices.Contains(call.Tried, at) {
		return nil
	}
	return &tool.ElsewhereError{Place: at, Otherwise: errors.New("the MCP servers of this conversation run on a machine that does not answer")}
}

func (h *home) move(ctx context.Context, session, from, to string) (at string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left && to == h.here {
		return "", nil
	}
	return h.places.MoveServers(ctx, session, from, to)
}

// leave lets the conversations that came here go to other places.
func (h *home) leave(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.left = true
	return h.places.LeaveServers(ctx, h.here)
}

// Leave lets the conversations that use servers of this process go to other places: it is
// about to stop. New calls may still be made.
func (s *Servers) Leave(ctx context.Context) error {
	if s.home == nil {
		return nil
	}
	return s.home.leave(ctx)
}

// placed reports whether calls of the server have a place: it is a process that may hold
// state of a conversation, and others like it may run elsewhere.
func (s *server) placed() bool { return s.home != nil && s.Command != "" }

// always says that calls have a place, whatever their arguments.
func always(json.RawMessage) bool { return true }

// at makes the calls of a tool where its servers run, if placed says so of their arguments.
func (h *home) at(t tool.Tool, placed func(arguments json.RawMessage) bool) tool.Tool {
	run := t.Run
	t.Place = h.place(placed)
	t.Run = func(ctx context.Context, call tool.Call) (tool.Result, error) {
		return h.underway.join(ctx, call, func(ctx context.Context, call tool.Call) (tool.Result, error) { return h.guard(ctx, call, run) })
	}
	return t
}

// guard makes a call and turns a panic into an error: a call that outlives its attempt has a
// goroutine of its own, on which a panic would end the process.
func (h *home) guard(ctx context.Context, call tool.Call, run func(context.Context, tool.Call) (tool.Result, error)) (result tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			h.log.Error("panic in a call of an MCP server", "call", call.Key, "panic", p, "stack", string(debug.Stack()))
			result, err = tool.Result{}, fmt.Errorf("the call crashed, its outcome is unknown: %v", p)
		}
	}()
	return run(ctx, call)
}

// place returns the function of a [tool.Tool].
func (h *home) place(placed func(arguments json.RawMessage) bool) func(context.Context, tool.Call) (bool, error) {
	return func(ctx context.Context, call tool.Call) (underway bool, err error) {
		if !placed(call.Arguments) {
			return false, nil
		}
		err = h.keep(ctx, call)
		return err == nil && h.underway.expect(call.Key), err
	}
}

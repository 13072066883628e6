package shell

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool"
)

// Places records where commands run: at the place of a supervisor, as in
// [supervisor.Supervisor.Place]. The store implements it.
type Places interface {
	// SessionPlaces returns where the background commands of a conversation run, and where
	// the MCP servers that it uses do; empty: it has none.
	SessionPlaces(ctx context.Context, session string) (commands, servers string, err error)
	// EnterPlace records that they run at a place.
	EnterPlace(ctx context.Context, session, place string) error
	// LeavePlace records that none run at that place any more.
	LeavePlace(ctx context.Context, session, place string) error
	// MoveServers records that the MCP servers that it uses run at another place; empty: it
	// may use any.
	MoveServers(ctx context.Context, session, from, to string) (place string, err error)
	// Intent returns what a call journaled, if it did.
	Intent(ctx context.Context, turn, call, part string) (data []byte, found bool, err error)
}

// inPlace makes the calls of a tool where the background commands of their conversation
// run, so that commands find each other, or else where its MCP servers do.
func inPlace[Args any](r *runner, run func(context.Context, tool.Call, Args) (tool.Result, error)) func(context.Context, tool.Call, Args) (tool.Result, error) {
	return func(ctx context.Context, call tool.Call, args Args) (tool.Result, error) {
		place, servers, err := r.Places.SessionPlaces(ctx, call.Session)
		place = cmp.Or(place, servers)
		if err != nil {
			return tool.Result{}, fmt.Errorf("%w: %w", tool.ErrRetry, err)
		}
		here := r.Supervisor.Place()
		switch {
		case place == "", place == here:
		case len(call.Tried) == 0:
			return tool.Result{}, &tool.ElsewhereError{
				Place:     place,
				Otherwise: errors.New("the commands of this conversation run on a machine that does not answer"),
			}
		case !slices.Contains(call.Tried, here): // that place does not answer
			_ = r.Places.LeavePlace(ctx, call.Session, place)
			_, _ = r.Places.MoveServers(ctx, call.Session, place, "")
		}
		result, err := run(ctx, call, args)
		if place == here {
			r.leaveIfIdle(ctx, call.Session)
		}
		return result, err
	}
}

// PlaceOf returns the place of a call's command, given what it journaled as [CommandPart].
func PlaceOf(journaled []byte) string {
	var there intent
	_ = json.Unmarshal(journaled, &there) // an unknown place is no place
	return there.Place
}

// leaveIfIdle frees a conversation to work anywhere once none of its commands run here.
// Failures are left to the next call.
func (r *runner) leaveIfIdle(ctx context.Context, session string) {
	all, err := r.Supervisor.List(session)
	if err != nil || slices.ContainsFunc(all, func(c supervisor.Info) bool { return stateOf(c.Process).running }) {
		return
	}
	_ = r.Places.LeavePlace(ctx, session, r.Supervisor.Place())
}

// startedElsewhere returns an [tool.ElsewhereError] if the command of that name was started
// in another place.
func (r *runner) startedElsewhere(ctx context.Context, name string) error {
	turn, _, _ := strings.Cut(name, ".")
	data, found, err := r.Places.Intent(ctx, turn, name, CommandPart)
	if err != nil {
		return fmt.Errorf("%w: %w", tool.ErrRetry, err)
	}
	if !found {
		return nil
	}
	var there intent
	if err := json.Unmarshal(data, &there); err != nil {
		return fmt.Errorf("read where session %s runs: %w", name, err)
	}
	if there.Place == r.Supervisor.Place() {
		return nil
	}
	return &tool.ElsewhereError{
		Place:     there.Place,
		Otherwise: fmt.Errorf("session %s was started on machine %s, which does not answer", name, there.Host),
	}
}

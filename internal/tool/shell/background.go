package shell

import (
	"context"
	"errors"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
)

// Subagents finds stored subagents.
type Subagents interface {
	// Subagent returns a subagent by ID, or [domain.ErrNotFound].
	Subagent(ctx context.Context, id string) (domain.Subagent, error)
}

// Background returns the commands of a session and its subagents that keep running
// between turns at this place, oldest first.
func Background(ctx context.Context, subagents Subagents, commands *supervisor.Supervisor, session string) ([]supervisor.Info, error) {
	running, err := commands.Running()
	if err != nil {
		return nil, err
	}
	var own []supervisor.Info
	for _, command := range running {
		found, err := WorksFor(ctx, subagents, command.Owner, session)
		if err != nil {
			return nil, err
		}
		if found {
			own = append(own, command)
		}
	}
	return own, nil
}

// WorksFor reports whether owner is the session, or a subagent below it.
func WorksFor(ctx context.Context, subagents Subagents, owner, session string) (bool, error) {
	for owner != session {
		id, isSubagent := domain.SubagentOf(owner)
		if !isSubagent {
			return false, nil
		}
		subagent, err := subagents.Subagent(ctx, id)
		if errors.Is(err, domain.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		owner = subagent.Parent
	}
	return true, nil
}

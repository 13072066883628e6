package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
)

// CommandsOf returns the commands that go on between the turns of a session, those
// of its subagents among them, as far as they run under the supervisor; the oldest
// first.
func CommandsOf(ctx context.Context, stored *store.Store, commands *supervisor.Supervisor, session string) ([]supervisor.Info, error) {
	running, err := commands.Running()
	if err != nil {
		return nil, err
	}
	var own []supervisor.Info
	for _, command := range running {
		is, err := within(ctx, stored, command.Owner, session)
		if err != nil {
			return nil, err
		}
		if is {
			own = append(own, command)
		}
	}
	return own, nil
}

// within reports whether one session is the other, or of a subagent that works for
// it.
func within(ctx context.Context, stored *store.Store, one, other string) (bool, error) {
	for one != other {
		id, isSubagent := domain.SubagentOf(one)
		if !isSubagent {
			return false, nil
		}
		subagent, err := stored.Subagent(ctx, id)
		if errors.Is(err, domain.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		one = subagent.Parent
	}
	return true, nil
}

// background is [CommandsOf] on this machine.
func (a *Agent) background(ctx context.Context, session string) ([]supervisor.Info, error) {
	if a.Tools.Supervisor == nil {
		return nil, nil
	}
	running, err := CommandsOf(ctx, a.Store, a.Tools.Supervisor, session)
	if err != nil {
		return nil, fmt.Errorf("look for running commands: %w", err)
	}
	return running, nil
}

// stopBackground ends what goes on between the turns of a session, and reports
// whether there was something. A message that was answered before ends nothing:
// what runs now was started after it.
func (a *Agent) stopBackground(ctx context.Context, session, message string) (stopped bool, err error) {
	asked, err := a.Store.Inbound(ctx, message)
	if err != nil || asked.Turn != "" {
		return false, err
	}
	running, err := a.background(ctx, session)
	if err != nil || len(running) == 0 {
		return false, err
	}
	var keys []string
	for _, command := range running {
		keys = append(keys, command.Key)
	}
	if err := a.Tools.Supervisor.Stop(ctx, keys...); err != nil {
		return false, fmt.Errorf("stop running commands: %w", err)
	}
	return true, nil
}

// shownBackground says which commands go on between the turns of a session, a line
// each; empty if there are none.
func (a *Agent) shownBackground(ctx context.Context, session string) string {
	running, err := a.background(ctx, session)
	if err != nil {
		return "\n(which commands run cannot be read: " + err.Error() + ")"
	}
	var b strings.Builder
	for _, command := range running {
		fmt.Fprintf(&b, "\n- command `%s`, started %v ago: %s", command.Key, time.Since(command.StartedAt).Round(time.Second),
			brief(command.Command))
	}
	return b.String()
}

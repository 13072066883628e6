package activities

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/supervisor"
	"github.com/holdfast-ai/holdfast/internal/tool/shell"
)

// background returns the session's commands that keep running between its turns at this
// place.
func (a *Agent) background(ctx context.Context, session string) ([]supervisor.Info, error) {
	if a.Tools.Supervisor == nil {
		return nil, nil
	}
	running, err := shell.Background(ctx, a.Store, a.Tools.Supervisor, session)
	if err != nil {
		return nil, fmt.Errorf("list running commands: %w", err)
	}
	return running, nil
}

// stopBackground stops the session's background commands at this place and reports whether
// there were any.
func (a *Agent) stopBackground(ctx context.Context, session string) (stopped bool, err error) {
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
	for _, command := range running {
		if err := a.Store.LeavePlace(ctx, command.Owner, a.Tools.Supervisor.Place()); err != nil {
			return false, err
		}
	}
	return true, nil
}

// stopLost ends the running turns of a session that its run does not know, because the run
// that did is lost, and reports whether there were any. Place is another place, not tried
// yet, where commands of one may run: then it is to be ended there.
func (a *Agent) stopLost(ctx context.Context, in protocol.AnswerInput) (stopped bool, place string, err error) {
	if in.Command == domain.CommandStop && in.Stopped { // the run ends its turn itself
		return false, "", nil
	}
	turns, err := a.Store.RunningTurns(ctx, in.Session.Key)
	for _, turn := range turns {
		if err != nil || place != "" {
			break
		}
		var ended protocol.EndTurnResult
		ended, err = a.endTurn(ctx, protocol.EndTurnInput{
			Session: in.Session, Turn: turn, Ending: protocol.EndingStopped, Silent: true, Tried: in.Tried,
		})
		place = ended.Place
	}
	return len(turns) > 0 && place == "", place, err
}

// backgroundElsewhere returns another place, not tried yet, where background commands of the
// session or its subagents run, or "". If forget is set, it forgets the places that were
// tried and did not answer.
func (a *Agent) backgroundElsewhere(ctx context.Context, session string, tried []string, forget bool) (string, error) {
	if a.Tools.Supervisor == nil {
		return "", nil
	}
	all, err := a.Store.Placed(ctx)
	if err != nil {
		return "", err
	}
	var places []string
	for _, p := range all {
		own, err := shell.WorksFor(ctx, a.Store, p.Session, session)
		if err != nil {
			return "", fmt.Errorf("look for running commands: %w", err)
		}
		if own {
			places = append(places, p.Place)
		}
		if own && forget && p.Place != a.Tools.Supervisor.Place() && slices.Contains(tried, p.Place) {
			if err := a.Store.LeavePlace(ctx, p.Session, p.Place); err != nil {
				return "", err
			}
		}
	}
	return a.elsewhere(places, tried), nil
}

// elsewhere returns the first place that is another than this one and not tried yet.
func (a *Agent) elsewhere(places, tried []string) string {
	for _, place := range places {
		if place != a.Tools.Supervisor.Place() && !slices.Contains(tried, place) {
			return place
		}
	}
	return ""
}

// commandsOf carries out the part of a command that concerns the session's background
// commands at this place: it stops them for /stop and /new, with lost turns, and lists them
// for /status. A result with a place is to be continued there. A message that was already
// answered stops nothing: commands that run now were started after it.
func (a *Agent) commandsOf(ctx context.Context, in protocol.AnswerInput, message domain.Inbound) (result protocol.AnswerResult, err error) {
	switch in.Command {
	case domain.CommandNew, domain.CommandStop:
		if message.Turn != "" {
			return result, nil
		}
		if result.Stopped, result.Place, err = a.stopLost(ctx, in); err != nil || result.Place != "" {
			return result, err
		}
		var commands bool
		commands, err = a.stopBackground(ctx, in.Session.Key)
		result.Stopped = result.Stopped || commands
	case domain.CommandStatus:
		result.Commands = a.listBackground(ctx, in.Session.Key)
	default:
		return result, nil
	}
	if err == nil {
		result.Place, err = a.backgroundElsewhere(ctx, in.Session.Key, in.Tried, in.Silent && in.Command != domain.CommandStatus)
	}
	return result, err
}

// listBackground lists the session's background commands at this place, one per line.
func (a *Agent) listBackground(ctx context.Context, session string) string {
	running, err := a.background(ctx, session)
	if err != nil {
		return "\n(cannot read the running commands: " + err.Error() + ")"
	}
	var b strings.Builder
	for _, command := range running {
		fmt.Fprintf(&b, "\n- command `%s`, started %v ago: %s", command.Key, time.Since(command.StartedAt).Round(time.Second),
			brief(command.Command))
	}
	return b.String()
}

// silentNote is added to the answer of a command if a place does not answer.
const silentNote = "\n\nSome commands run on a machine that does not answer. They end at their timeout."

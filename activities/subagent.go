package activities

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/internal/store"
	"github.com/holdfast-ai/holdfast/internal/text"
)

// reportLimit bounds a subagent's report, in bytes.
const reportLimit = 16_000

// Report ends a subagent: what its last turn said is put into its parent's inbox,
// once, and signalled.
func (a *Agent) Report(ctx context.Context, in protocol.ReportInput) error {
	status, report := domain.SubagentStopped, ""
	if !in.Stopped {
		turns, err := a.Store.Turns(ctx, in.Session.Key, 1)
		if err != nil {
			return fmt.Errorf("read what the subagent said: %w", err)
		}
		status, report = reported(turns)
	}
	message, err := a.Store.EndSubagent(ctx, in.ID, status, text.Cut(report, reportLimit))
	if err != nil {
		return fmt.Errorf("store the report: %w", err)
	}
	if message.ID == "" || message.Turn != "" {
		return nil
	}
	if err := a.Channels.Signal(ctx, message); err != nil {
		return fmt.Errorf("bring the report: %w", err)
	}
	return nil
}

// reported is what a subagent's last turn amounts to.
func reported(turns []domain.Turn) (domain.SubagentStatus, string) {
	if len(turns) == 0 {
		return domain.SubagentFailed, "It did not begin."
	}
	last := turns[0]
	if last.Status != domain.TurnDone {
		return domain.SubagentFailed, cmp.Or(last.Reply, "It ended without an answer.")
	}
	return domain.SubagentDone, cmp.Or(last.Reply, "(it said nothing)")
}

// children says what each subagent of a session is doing, a line each.
func (a *Agent) children(ctx context.Context, session string) string {
	running, err := a.Store.Subagents(ctx, session)
	if err != nil {
		return "\n(what the subagents do cannot be read: " + err.Error() + ")"
	}
	var b strings.Builder
	for _, child := range running {
		fmt.Fprintf(&b, "\n- subagent %s (%s): %s", domain.ShortID(child.ID), child.Label, a.doing(ctx, child.Session))
	}
	return b.String()
}

// doing says what the last thing is that a session's turn began.
func (a *Agent) doing(ctx context.Context, session string) string {
	rows, err := a.Store.Transcript(ctx, session, currentEpoch, 1)
	if err != nil || len(rows) == 0 {
		return "begins"
	}
	last := rows[0]
	if len(last.ToolCalls) == 0 {
		return fmt.Sprintf("step %d, thinking", last.Step)
	}
	call := last.ToolCalls[len(last.ToolCalls)-1]
	return fmt.Sprintf("step %d, %s: %s", last.Step, call.Name, brief(title(ctx, a.Tools.Agent, call)))
}

const (
	// currentEpoch asks the store for a session's transcript since its last fresh start.
	currentEpoch = -1
	// doingLimit is how much is shown of a call, in bytes.
	doingLimit = 80
)

// brief is a call or a command on one line, cut.
func brief(s string) string {
	return text.Cut(strings.Join(strings.Fields(s), " "), doingLimit)
}

// checkRunning refuses the steps of a subagent that was stopped.
func (a *Agent) checkRunning(ctx context.Context, session domain.SessionRef) error {
	if session.Depth == 0 {
		return nil
	}
	id, _ := domain.SubagentOf(session.Key)
	subagent, err := a.Store.Subagent(ctx, id)
	if err != nil {
		return fmt.Errorf("look for the subagent: %w", err)
	}
	if subagent.Status != domain.SubagentRunning {
		return store.ErrTurnEnded
	}
	return nil
}

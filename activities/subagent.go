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

// Report ends a subagent: it stores the reply of its last turn in the parent's inbox,
// once, and signals the parent.
func (a *Agent) Report(ctx context.Context, in protocol.ReportInput) (err error) {
	defer recoverPanic(ctx, &err)
	return failure(ctx, ctx, a.report(ctx, in))
}

func (a *Agent) report(ctx context.Context, in protocol.ReportInput) error {
	status, report := domain.SubagentStopped, ""
	if !in.Stopped {
		turns, err := a.Store.Turns(ctx, in.Session.Key, 1)
		if err != nil {
			return fmt.Errorf("read the subagent's reply: %w", err)
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
		return fmt.Errorf("signal the report: %w", err)
	}
	return nil
}

// reported returns a subagent's outcome, given its last turn.
func reported(turns []domain.Turn) (domain.SubagentStatus, string) {
	if len(turns) == 0 {
		return domain.SubagentFailed, "It did not start."
	}
	last := turns[0]
	if last.Status != domain.TurnDone {
		return domain.SubagentFailed, cmp.Or(last.Reply, "It ended without a reply.")
	}
	return domain.SubagentDone, cmp.Or(last.Reply, "(empty reply)")
}

// listSubagents lists the subagents of a session and their current steps for /status,
// one per line.
func (a *Agent) listSubagents(ctx context.Context, session string) string {
	running, err := a.Store.Subagents(ctx, session)
	if err != nil {
		return "\n(cannot read the subagents: " + err.Error() + ")"
	}
	var b strings.Builder
	for _, child := range running {
		fmt.Fprintf(&b, "\n- subagent %s (%s): %s", domain.ShortID(child.ID), child.Label, a.currentStep(ctx, child.Session))
	}
	return b.String()
}

// currentStep describes what a session's turn is doing.
func (a *Agent) currentStep(ctx context.Context, session string) string {
	rows, err := a.Store.Transcript(ctx, session, currentEpoch, 1)
	if err != nil || len(rows) == 0 {
		return "starting"
	}
	last := rows[0]
	if len(last.ToolCalls) == 0 {
		return fmt.Sprintf("step %d, thinking", last.Step)
	}
	call := last.ToolCalls[len(last.ToolCalls)-1]
	return fmt.Sprintf("step %d, %s: %s", last.Step, call.Name, brief(resolve(ctx, a.Tools.Agent, call).title))
}

const (
	currentEpoch = -1 // the transcript since the last /new
	briefLimit   = 80 // bytes
)

// brief shortens a call or a command to one line.
func brief(s string) string {
	return text.Cut(text.Line(s), briefLimit)
}

// checkRunning returns an error if the session is a subagent's that was stopped.
func (a *Agent) checkRunning(ctx context.Context, session domain.SessionRef) error {
	if session.Depth == 0 {
		return nil
	}
	id, _ := domain.SubagentOf(session.Key)
	subagent, err := a.Store.Subagent(ctx, id)
	if err != nil {
		return fmt.Errorf("read the subagent: %w", err)
	}
	if subagent.Status != domain.SubagentRunning {
		return store.ErrTurnEnded
	}
	return nil
}

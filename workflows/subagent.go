package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// Subagent works on one task in its own session and reports to the session that spawned
// it. It may outlive the run that started it, which may continue as new. If it closes
// without a report, the dispatcher reports it as failed.
func Subagent(ctx workflow.Context, input protocol.SessionInput) error {
	s := newSession(ctx, input)
	err := s.run(ctx)
	if workflow.IsContinueAsNewError(err) {
		return err
	}
	id, _ := domain.SubagentOf(s.ref.Key)
	report := protocol.ReportInput{Session: s.ref, ID: id, Stopped: ctx.Err() != nil}
	if failed := executeReport(ctx, report); failed != nil {
		return failed
	}
	return err
}

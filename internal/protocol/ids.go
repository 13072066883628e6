package protocol

import (
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// WorkflowID is the ID of a session's workflow. One open run at most has it.
func WorkflowID(session string) string {
	if id, is := domain.SubagentOf(session); is {
		return domain.SubagentChannel + "/" + id
	}
	return "session/" + session
}

// ConsolidationWorkflowID is the ID of the workflow that consolidates a memory
// scope; without one, of the one that looks for those that need it.
func ConsolidationWorkflowID(scope string) string {
	if scope == "" {
		return "consolidation"
	}
	return "consolidation/" + scope
}

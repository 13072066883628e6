package protocol

import (
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// WorkflowID returns the ID of a session's workflow. At most one run with it is open.
func WorkflowID(session string) string {
	if id, is := domain.SubagentOf(session); is {
		return domain.SubagentChannel + "/" + id
	}
	return "session/" + session
}

// ConsolidationWorkflowID returns the ID of the workflow that consolidates a memory
// scope or, without a scope, that looks for scopes to consolidate.
func ConsolidationWorkflowID(scope string) string {
	if scope == "" {
		return "consolidation"
	}
	return "consolidation/" + scope
}

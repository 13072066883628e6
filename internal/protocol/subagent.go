package protocol

import (
	"cmp"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// subagentSteps bounds the model calls of a subagent's turn where it is not said.
const subagentSteps = 15

// SubagentInput starts the subagent that a call spawned, which has its task as the
// one message to answer. Depth is 1 for one that a user's session spawned; steps
// bounds its model calls, 0 for the usual.
func SubagentInput(callKey string, depth int, model string, steps int) SessionInput {
	steps = cmp.Or(steps, subagentSteps)
	task := domain.TaskMessage(callKey)
	return SessionInput{
		Session: domain.SessionRef{Key: domain.SubagentSession(callKey), Channel: domain.SubagentChannel, Depth: depth},
		Model:   model, Limits: Limits{Steps: steps, SubagentSteps: steps},
		State: SessionState{Queue: []MessageRef{{ID: task}}, Recent: []string{task}},
	}
}

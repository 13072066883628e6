package protocol

import (
	"cmp"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// subagentSteps is the default bound of a subagent's model calls.
const subagentSteps = 15

// SubagentInput returns the input of a subagent's workflow, with its task as the only
// message. depth is 1 if a user's session spawned it; steps bounds its model calls, 0
// for the default.
func SubagentInput(callKey string, depth int, model string, steps int) SessionInput {
	steps = cmp.Or(steps, subagentSteps)
	task := domain.TaskMessage(callKey)
	return SessionInput{
		Session: domain.SessionRef{Key: domain.SubagentSession(callKey), Channel: domain.SubagentChannel, Depth: depth},
		Model:   model, Limits: NewLimits(steps, steps),
		State: SessionState{Queue: []MessageRef{{ID: task}}, Recent: []string{task}},
	}
}

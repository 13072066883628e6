package protocol

import "cmp"

// subagentSteps bounds the model calls of a subagent's turn where it is not said.
const subagentSteps = 15

// SubagentInput starts the subagent that a call spawned, which has its task as the
// one message to answer. Depth is 1 for one that a user's session spawned; steps
// bounds its model calls, 0 for the usual.
func SubagentInput(callKey string, depth int, model string, steps int) SessionInput {
	steps = cmp.Or(steps, subagentSteps)
	task := TaskMessage(callKey)
	return SessionInput{
		Session: SessionRef{Key: SubagentSession(callKey), Channel: SubagentChannel, Depth: depth},
		Model:   model, Limits: Limits{Steps: steps, SubagentSteps: steps},
		State: SessionState{Queue: []Message{{ID: task}}, Recent: []string{task}},
	}
}

package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/workflows"
)

func TestSubagents(t *testing.T) {
	t.Parallel()

	t.Run("one that continues as new stays a subagent, which reports", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(look(b.suggest), say("unused"))
		b.env.RegisterWorkflowWithOptions(workflows.Subagent, workflow.RegisterOptions{Name: protocol.SubagentWorkflow})
		b.env.ExecuteWorkflow(protocol.SubagentWorkflow, turnAt(b, 1))
		var next *workflow.ContinueAsNewError
		require.ErrorAs(t, b.env.GetWorkflowError(), &next)
		require.Equal(t, protocol.SubagentWorkflow, next.WorkflowType.Name)
	})

	t.Run("a session that only waits for their reports continues as new", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.script(say("unused"))
		b.env.SetOnActivityCompletedListener(onCompleted(protocol.AnswerActivity, func() { b.env.SetContinueAsNewSuggested(true) }))
		children := []protocol.Child{{ID: "m1.1.0", Label: "look"}}
		input := b.continued(b.resume(protocol.SessionInput{
			Session: ref, Limits: b.limits, State: protocol.SessionState{Children: children},
		}, cmd("c1", domain.CommandStatus)))
		require.Equal(t, children, input.State.Children)
	})
}

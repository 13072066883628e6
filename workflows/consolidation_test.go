package workflows_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/workflows"
)

func TestConsolidation(t *testing.T) {
	t.Parallel()
	failed := temporal.NewNonRetryableApplicationError("the model did not call save_memory", protocol.ErrorInvalid, nil)
	for name, c := range map[string]struct {
		results  []any // of the activity, in order
		signals  int   // during the first attempt
		want     protocol.ConsolidateResult
		attempts int
	}{
		"consolidates all batches": {
			[]any{protocol.ConsolidateResult{More: true}, protocol.ConsolidateResult{}}, 0, protocol.ConsolidateResult{}, 2,
		},
		"looks again after a signal": {
			[]any{protocol.ConsolidateResult{}, protocol.ConsolidateResult{}}, 3, protocol.ConsolidateResult{}, 2,
		},
		"completes if the model is of no use, without unread signals": {
			[]any{failed}, 2, protocol.ConsolidateResult{Failure: "the model did not call save_memory"}, 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
			unread := -1
			env.RegisterWorkflowWithOptions(func(ctx workflow.Context, in protocol.ConsolidateInput) (protocol.ConsolidateResult, error) {
				result, err := workflows.Consolidation(ctx, in)
				unread = workflow.GetSignalChannel(ctx, protocol.ConsolidateSignal).Len()
				return result, err
			}, workflow.RegisterOptions{Name: protocol.ConsolidationWorkflow})
			env.RegisterActivityWithOptions(func(protocol.ConsolidateInput) (protocol.ConsolidateResult, error) { panic("mocked") },
				activity.RegisterOptions{Name: protocol.ConsolidateActivity})
			attempts := 0
			env.OnActivity(protocol.ConsolidateActivity, mock.Anything).Return(func(protocol.ConsolidateInput) (protocol.ConsolidateResult, error) {
				if attempts++; attempts == 1 {
					for range c.signals {
						env.SignalWorkflow(protocol.ConsolidateSignal, nil)
					}
				}
				switch result := c.results[attempts-1].(type) {
				case error:
					return protocol.ConsolidateResult{}, result
				case protocol.ConsolidateResult:
					return result, nil
				}
				return protocol.ConsolidateResult{}, errors.New("unexpected result")
			})
			env.ExecuteWorkflow(protocol.ConsolidationWorkflow, protocol.ConsolidateInput{Scope: "workspace"})
			require.NoError(t, env.GetWorkflowError())
			var result protocol.ConsolidateResult
			require.NoError(t, env.GetWorkflowResult(&result))
			require.Equal(t, c.want, result)
			require.Equal(t, c.attempts, attempts)
			require.Zero(t, unread)
		})
	}
}

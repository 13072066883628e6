package workflows_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"

	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/workflows"
)

func TestJob(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	begins := time.Date(2027, 3, 28, 3, 0, 1, 0, berlin) // the clocks have just gone forward
	due := time.Date(2027, 3, 28, 1, 59, 59, 0, berlin)
	for name, c := range map[string]struct {
		attributes temporal.SearchAttributes
		want       time.Time
	}{
		"due when its schedule said": {temporal.NewSearchAttributes(temporal.NewSearchAttributeKeyTime("TemporalScheduledStartTime").ValueSet(due)), due.UTC()},
		"due now if there was none":  {temporal.NewSearchAttributes(), begins.UTC()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
			env.SetStartTime(begins)
			require.NoError(t, env.SetTypedSearchAttributesOnStart(c.attributes))
			env.RegisterActivityWithOptions(func(protocol.FireInput) (protocol.FireResult, error) { panic("mocked") },
				activity.RegisterOptions{Name: protocol.FireActivity})
			env.OnActivity(protocol.FireActivity, mock.Anything).Return(func(in protocol.FireInput) (protocol.FireResult, error) {
				require.Equal(t, protocol.FireInput{Job: "j", Due: c.want}, in)
				return protocol.FireResult{Session: "job:j", Message: "m1"}, nil
			})
			env.ExecuteWorkflow(workflows.Job, protocol.JobInput{ID: "j"})
			require.NoError(t, env.GetWorkflowError())
			var result protocol.FireResult
			require.NoError(t, env.GetWorkflowResult(&result))
			require.Equal(t, protocol.FireResult{Session: "job:j", Message: "m1"}, result)
		})
	}
}

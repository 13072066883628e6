package workflows

import (
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// Consolidation takes the earlier turns of one memory scope into its memory, a
// batch after the other; its open run is the scope's lock. Without a scope, as the
// schedule starts it, it has each scope looked after that may need it. A signal
// that arrives while it runs has it look again.
func Consolidation(ctx workflow.Context, input protocol.ConsolidateInput) error {
	again := workflow.GetSignalChannel(ctx, protocol.ConsolidateSignal)
	for {
		for again.ReceiveAsync(nil) {
		}
		result, err := executeConsolidate(ctx, input)
		if err != nil {
			return err
		}
		switch {
		case !result.More && again.Len() == 0:
			return nil
		case workflow.GetInfo(ctx).GetContinueAsNewSuggested():
			return workflow.NewContinueAsNewError(ctx, Consolidation, input)
		}
	}
}

func executeConsolidate(ctx workflow.Context, input protocol.ConsolidateInput) (result protocol.ConsolidateResult, err error) {
	ctx = workflow.WithActivityOptions(ctx, modelOptions("consolidate "+input.Scope))
	err = workflow.ExecuteActivity(ctx, protocol.ConsolidateActivity, input).Get(ctx, &result)
	return result, err
}

package workflows

import (
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// Consolidation merges the earlier turns of a memory scope into its memory, batch by
// batch. Its open run is the scope's lock. Without a scope, as the schedule starts it, it
// starts the consolidation of every scope that is due. A signal during the run makes it
// look for turns again. A failed consolidation is a result, not a failed workflow: the
// next run tries again.
func Consolidation(ctx workflow.Context, input protocol.ConsolidateInput) (protocol.ConsolidateResult, error) {
	signals := workflow.GetSignalChannel(ctx, protocol.ConsolidateSignal)
	for {
		drain(signals)
		result, err := executeConsolidate(ctx, input)
		switch {
		case ctx.Err() != nil:
			return result, ctx.Err()
		case err != nil:
			workflow.GetLogger(ctx).Warn("memory not consolidated", "scope", input.Scope, "err", err)
			drain(signals)
			return protocol.ConsolidateResult{Failure: failureReason(err)}, nil
		case !result.More && signals.Len() == 0:
			return result, nil
		case workflow.GetInfo(ctx).GetContinueAsNewSuggested():
			return result, workflow.NewContinueAsNewError(ctx, Consolidation, input)
		}
	}
}

// drain discards the signals received so far.
func drain(signals workflow.ReceiveChannel) {
	for signals.ReceiveAsync(nil) {
	}
}

// failureReason is the text of an activity's error for people.
func failureReason(err error) string {
	if app, ok := errors.AsType[*temporal.ApplicationError](err); ok {
		return cut(app.Message(), protocol.PreviewLimit)
	}
	return cut(err.Error(), protocol.PreviewLimit)
}

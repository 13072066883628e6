package starter

import (
	"context"
	"errors"
	"fmt"

	"go.temporal.io/api/serviceerror"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// Decided tells a workflow that an approval which it may wait for was decided. One
// that is gone waits for nothing.
func (s *Starter) Decided(ctx context.Context, workflowID string, d protocol.ApprovalDecision) error {
	ctx, cancel := context.WithTimeout(ctx, signalTimeout)
	defer cancel()
	err := s.o.Client.SignalWorkflow(ctx, workflowID, "", protocol.ApprovalSignal, d)
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone || err == nil {
		return nil
	}
	return fmt.Errorf("signal %s: %w", workflowID, err)
}

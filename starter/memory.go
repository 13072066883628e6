package starter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

const (
	// memorySchedule has memories looked after whose sessions have gone quiet.
	memorySchedule = "memory"
	memoryInterval = 15 * time.Minute
)

// Remember has a scope's memory consolidated, now or once more if that is on.
func (s *Starter) Remember(ctx context.Context, scope string) error {
	input := protocol.ConsolidateInput{Scope: scope}
	_, err := s.o.Client.SignalWithStartWorkflow(ctx, protocol.ConsolidationWorkflowID(scope), protocol.ConsolidateSignal, nil,
		client.StartWorkflowOptions{
			TaskQueue: protocol.AgentQueue, WorkflowTaskTimeout: workflowTaskTimeout, StaticSummary: "memory of " + scope,
		}, protocol.ConsolidationWorkflow, input)
	if err != nil {
		return fmt.Errorf("start the consolidation of %s: %w", scope, err)
	}
	return nil
}

// scheduleMemory makes sure that memories are looked after from time to time.
func (s *Starter) scheduleMemory(ctx context.Context) error {
	_, err := s.o.Client.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID:            memorySchedule,
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: memoryInterval}}},
		CatchupWindow: memoryInterval,
		Action: &client.ScheduleWorkflowAction{
			ID: protocol.ConsolidationWorkflowID(""), Workflow: protocol.ConsolidationWorkflow,
			Args: []any{protocol.ConsolidateInput{}}, TaskQueue: protocol.AgentQueue, StaticSummary: "memories to be consolidated",
		},
	})
	if errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return nil
	}
	return err
}

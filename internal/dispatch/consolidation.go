package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/holdfast-ai/holdfast/internal/protocol"
)

// consolidationInterval is the interval of looking for sessions that have become idle.
const consolidationInterval = 15 * time.Minute

// Consolidate starts the consolidation of a memory scope. If it is running, it runs
// once more.
func (c *Client) Consolidate(ctx context.Context, scope string) error {
	options := c.consolidationOptions(scope)
	_, err := c.sdk.SignalWithStartWorkflow(ctx, options.ID, protocol.ConsolidateSignal, nil, options,
		protocol.ConsolidationWorkflow, protocol.ConsolidateInput{Scope: scope})
	if err != nil {
		return fmt.Errorf("start the consolidation of %s: %w", scope, err)
	}
	return nil
}

// ScheduleConsolidation creates the schedule that consolidates every memory scope with
// unconsolidated turns, unless it exists.
func (c *Client) ScheduleConsolidation(ctx context.Context) error {
	_, err := c.sdk.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID:            c.names.ConsolidationSchedule(),
		Spec:          client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: consolidationInterval}}},
		CatchupWindow: consolidationInterval,
		Action:        scheduleAction(c.consolidationOptions(""), protocol.ConsolidationWorkflow, protocol.ConsolidateInput{}),
	})
	if err != nil && !errors.Is(err, temporal.ErrScheduleAlreadyRunning) {
		return fmt.Errorf("schedule the consolidation of memories: %w", err)
	}
	return nil
}

// consolidationOptions start the consolidation of a scope or, without one, the one that
// starts the others.
func (c *Client) consolidationOptions(scope string) client.StartWorkflowOptions {
	summary := "consolidate memory of " + scope
	if scope == "" {
		summary = "consolidate memories"
	}
	return c.startOptions(c.names.Consolidation(scope), summary, background, temporal.SearchAttributes{})
}

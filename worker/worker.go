// Package worker runs the Temporal workers: one for sessions and their turns,
// and one for each push channel's deliveries.
package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/holdfast-ai/holdfast/activities"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/workflows"
)

const (
	// stopTimeout is how long running activities have to finish at a shutdown before they
	// are released.
	stopTimeout = 5 * time.Second
	// heartbeatThrottle is the shortest interval between heartbeats sent to the server.
	heartbeatThrottle = 2 * time.Second
	// stickyTimeout is how long a workflow task waits for the worker that has its workflow
	// cached before any worker may take it.
	stickyTimeout = 2 * time.Second
	// sweepInterval is the interval of removing stale drafts.
	sweepInterval = time.Minute
	// concludeTimeout bounds how long a stop waits for channels to finish showing turns.
	concludeTimeout = 2 * time.Second
)

// Options configure a [Worker].
type Options struct {
	Client client.Client
	// Agent has the activities of the agent queue; nil: this process serves only outboxes.
	Agent *activities.Agent
	// Outboxes are served by channel name.
	Outboxes map[string]*activities.Outbox
	// Concurrency bounds concurrent activities per queue; 0: 200.
	Concurrency int
}

// Worker is a set of Temporal workers. Start it once, then stop it once.
type Worker struct {
	workers  []worker.Worker
	outboxes map[string]*activities.Outbox
	stop     context.CancelFunc
	sweeping sync.WaitGroup
}

// New returns workers that are ready to start.
func New(o Options) (*Worker, error) {
	if o.Client == nil || (o.Agent == nil && len(o.Outboxes) == 0) {
		return nil, errors.New("worker: a client, and something to serve, are required")
	}
	if o.Concurrency == 0 {
		o.Concurrency = 200
	}
	w := &Worker{outboxes: o.Outboxes, stop: func() {}}
	if o.Agent != nil {
		agent := worker.New(o.Client, protocol.AgentQueue, options(o))
		agent.RegisterWorkflowWithOptions(workflows.Session, workflow.RegisterOptions{Name: protocol.SessionWorkflow})
		agent.RegisterWorkflowWithOptions(workflows.Subagent, workflow.RegisterOptions{Name: protocol.SubagentWorkflow})
		agent.RegisterWorkflowWithOptions(workflows.Consolidation, workflow.RegisterOptions{Name: protocol.ConsolidationWorkflow})
		agent.RegisterWorkflowWithOptions(workflows.Job, workflow.RegisterOptions{Name: protocol.JobWorkflow})
		agent.RegisterActivity(o.Agent)
		w.workers = append(w.workers, agent)
	}
	deliveries := options(o)
	deliveries.DisableWorkflowWorker = true
	for channel, outbox := range o.Outboxes {
		sender := worker.New(o.Client, protocol.OutboxQueue(channel), deliveries)
		sender.RegisterActivityWithOptions(outbox.Deliver, activity.RegisterOptions{Name: protocol.DeliverActivity})
		w.workers = append(w.workers, sender)
	}
	return w, nil
}

func options(o Options) worker.Options {
	return worker.Options{
		MaxConcurrentActivityExecutionSize: o.Concurrency,
		// A fixed two pollers starve under load: a first workflow task waited 0.9 s
		// behind 16 runs.
		WorkflowTaskPollerBehavior:       worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior:       worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		MaxHeartbeatThrottleInterval:     heartbeatThrottle,
		DefaultHeartbeatThrottleInterval: heartbeatThrottle,
		StickyScheduleToStartTimeout:     stickyTimeout,
		WorkerStopTimeout:                stopTimeout,
	}
}

// Start starts polling. It returns an error when the namespace cannot be reached.
func (w *Worker) Start() error {
	for i, each := range w.workers {
		if err := each.Start(); err != nil {
			for _, started := range w.workers[:i] {
				started.Stop()
			}
			return fmt.Errorf("start a worker: %w", err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	for channel, outbox := range w.outboxes {
		w.sweeping.Go(func() { sweep(ctx, channel, outbox) })
	}
	return nil
}

// sweep removes drafts that no reply will take over, now and at every interval.
func sweep(ctx context.Context, channel string, outbox *activities.Outbox) {
	ticker := time.NewTicker(sweepInterval)
	defer ticker.Stop()
	for {
		if err := outbox.Sweep(ctx, channel); err != nil && ctx.Err() == nil {
			slog.Debug("removing stale drafts failed", "channel", channel, "err", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Stop stops polling, waits a moment for running activities, and releases the others for
// another worker or the next start.
func (w *Worker) Stop() {
	w.stop()
	defer w.sweeping.Wait()
	var stopping sync.WaitGroup
	for _, each := range w.workers {
		stopping.Go(each.Stop)
	}
	stopping.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), concludeTimeout)
	defer cancel()
	for _, outbox := range w.outboxes {
		outbox.Wait(ctx)
	}
}

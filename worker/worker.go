// Package worker runs the Temporal workers: one for each kind of work and one for each
// push channel's deliveries. Each has a task queue and slots of its own, so that no kind
// waits behind another.
package worker

import (
	"cmp"
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
	"github.com/holdfast-ai/holdfast/config"
	"github.com/holdfast-ai/holdfast/internal/build"
	"github.com/holdfast-ai/holdfast/internal/protocol"
	"github.com/holdfast-ai/holdfast/workflows"
)

const (
	// reportTimeout is how long activities that were released have to say so.
	reportTimeout = 10 * time.Second
	// heartbeatThrottle is the shortest interval between heartbeats sent to the server. Each
	// is a billed action in Temporal Cloud.
	heartbeatThrottle = 10 * time.Second
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
	Names    protocol.Names
	Config   config.Worker
	// Silence is how long this process may not run before others take its activities over;
	// 0: until their heartbeat timeout.
	Silence time.Duration
}

// Worker is a set of Temporal workers. Start it once, then stop it once.
type Worker struct {
	workers  []worker.Worker
	outboxes map[string]*activities.Outbox
	drain    time.Duration
	tenure   activities.Tenure
	stop     context.CancelFunc
	sweeping sync.WaitGroup

	release  sync.Once
	released chan struct{} // closed by Release
}

// New returns workers that are ready to start.
func New(o Options) (*Worker, error) {
	if o.Client == nil || (o.Agent == nil && len(o.Outboxes) == 0) {
		return nil, errors.New("worker: a client, and something to serve, are required")
	}
	if o.Silence == 0 {
		o.Silence = workflows.HeartbeatTimeout / 2 // the last heartbeat may be as old
	}
	w := &Worker{outboxes: o.Outboxes, drain: o.Config.Drain, stop: func() {}, released: make(chan struct{})}
	w.tenure = activities.Tenure{Over: w.released, Silence: o.Silence}
	if o.Agent != nil {
		pinning := w.options(o.Config.ModelCalls)
		pinning.DeploymentOptions = deployment(o.Names, o.Config)
		agent := worker.New(o.Client, o.Names.AgentQueue(), pinning)
		agent.RegisterWorkflowWithOptions(workflows.Session, workflow.RegisterOptions{Name: protocol.SessionWorkflow})
		agent.RegisterWorkflowWithOptions(workflows.Subagent, workflow.RegisterOptions{Name: protocol.SubagentWorkflow})
		agent.RegisterWorkflowWithOptions(workflows.Consolidation, workflow.RegisterOptions{Name: protocol.ConsolidationWorkflow})
		agent.RegisterWorkflowWithOptions(workflows.Job, workflow.RegisterOptions{Name: protocol.JobWorkflow})
		agent.RegisterActivity(o.Agent)
		w.workers = append(w.workers, agent)
		w.serve(o.Client, o.Names.ControlQueue(), o.Config.Control).RegisterActivity(o.Agent)
		w.serve(o.Client, o.Names.ToolsQueue(), o.Config.ToolCalls).RegisterActivity(o.Agent)
		if commands := o.Agent.Tools.Supervisor; commands != nil {
			w.serve(o.Client, o.Names.ExecQueue(commands.Place()), o.Config.ToolCalls).RegisterActivity(o.Agent)
		}
	}
	for channel, outbox := range o.Outboxes {
		w.serve(o.Client, o.Names.OutboxQueue(channel), o.Config.Deliveries).
			RegisterActivityWithOptions(outbox.Deliver, activity.RegisterOptions{Name: protocol.DeliverActivity})
	}
	return w, nil
}

// deployment returns the options that pin workflows, and the model calls beside them, to this
// build until they continue as new; none without the setting. The other queues serve every
// build, since what runs at a place or waits for a channel outlives one.
func deployment(names protocol.Names, c config.Worker) worker.DeploymentOptions {
	if c.Deployment == "" {
		return worker.DeploymentOptions{}
	}
	return worker.DeploymentOptions{
		UseVersioning: true,
		Version: worker.WorkerDeploymentVersion{
			DeploymentName: names.Deployment(c.Deployment), BuildID: cmp.Or(c.BuildID, build.ID()),
		},
		DefaultVersioningBehavior: workflow.VersioningBehaviorPinned,
	}
}

// serve adds a worker for the activities of a queue.
func (w *Worker) serve(c client.Client, queue string, slots int) worker.Worker {
	o := w.options(slots)
	o.DisableWorkflowWorker = true
	w.workers = append(w.workers, worker.New(c, queue, o))
	return w.workers[len(w.workers)-1]
}

// options are those of a worker that runs so many activities at once.
func (w *Worker) options(slots int) worker.Options {
	return worker.Options{
		BackgroundActivityContext:          activities.WithTenure(context.Background(), w.tenure),
		MaxConcurrentActivityExecutionSize: slots,
		// A fixed two pollers starve under load: a first workflow task waited 0.9 s
		// behind 16 runs.
		WorkflowTaskPollerBehavior:       worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		ActivityTaskPollerBehavior:       worker.NewPollerBehaviorAutoscaling(worker.PollerBehaviorAutoscalingOptions{}),
		MaxHeartbeatThrottleInterval:     heartbeatThrottle,
		DefaultHeartbeatThrottleInterval: heartbeatThrottle,
		StickyScheduleToStartTimeout:     stickyTimeout,
		WorkerStopTimeout:                w.drain + reportTimeout,
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

// Release releases the running activities at once, for another worker or the next start.
func (w *Worker) Release() { w.release.Do(func() { close(w.released) }) }

// Stop stops polling, waits for the running activities as long as the drain time, and
// releases the others.
func (w *Worker) Stop() {
	w.stop()
	defer w.sweeping.Wait()
	defer time.AfterFunc(w.drain, w.Release).Stop()
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

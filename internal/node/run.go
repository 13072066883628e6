package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/http"
)

// Run runs this process until ctx ends, or the engine stops. It accepts messages at once;
// beside, it starts the engine or waits for Temporal, takes over what earlier processes left,
// and starts the worker. Then it calls ready. It can be called once.
func (n *Node) Run(ctx context.Context, ready func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var parts sync.WaitGroup
	defer parts.Wait()
	defer cancel(nil)
	parts.Go(func() {
		if err := n.join(ctx); err != nil {
			cancel(err)
			return
		}
		ready()
		n.keep(ctx, cancel)
	})
	if n.Commands != nil {
		go n.sweepCommands(ctx)
	}
	if n.roles.Starter && n.Config.Store.Retention > 0 {
		go n.sweepSessions(ctx)
	}
	if n.roles.Starter {
		receivers := map[string]channels.Receiver{}
		for name, channel := range n.push {
			receivers[name] = channel
		}
		if n.http != nil {
			receivers[http.Name] = n.http
		}
		n.Starter.Run(ctx, receivers)
	}
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// join makes this process part of the system: from then on it works on what is accepted.
func (n *Node) join(ctx context.Context) error {
	if n.Engine != nil {
		if err := n.Engine.Start(ctx); err != nil {
			return err
		}
		if err := n.announce(ctx); err != nil { // the addresses are known now
			return err
		}
	}
	if err := n.awaitTemporal(ctx); err != nil {
		return err
	}
	if err := n.recover(ctx); err != nil {
		return err
	}
	if n.worker != nil {
		if err := n.worker.Start(); err != nil { //nolint:contextcheck // it outlives the start
			return err
		}
		if n.Engine == nil { // others may run beside it
			n.onClose(n.present()) //nolint:contextcheck // until it has stopped
		}
		n.onClose(n.worker.Stop)
		n.onClose(n.leaveServers)
	}
	n.joined.Store(true)
	return ctx.Err()
}

// present shows other processes that this worker lives, and has repeated what was lost on its
// way to it, until stop is called.
func (n *Node) present() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var presence sync.WaitGroup
	presence.Go(func() { n.dispatcher.Present(ctx, n.Identity) })
	presence.Go(func() { n.dispatcher.RepeatLost(ctx, n.Identity) })
	return func() {
		cancel()
		presence.Wait()
	}
}

// keep does what this process repeats once it has joined, until ctx ends.
func (n *Node) keep(ctx context.Context, fail context.CancelCauseFunc) {
	var loops sync.WaitGroup
	defer loops.Wait()
	if n.roles.Starter {
		loops.Go(func() { n.Jobs.Keep(ctx) })
		loops.Go(func() {
			n.dispatcher.ReconcileAll(ctx)
			n.dispatcher.Reconcile(ctx)
		})
	}
	if n.Engine == nil {
		loops.Go(func() { n.dispatcher.WatchWorkers(ctx) })
	} else {
		select {
		case <-ctx.Done():
		case <-n.Engine.Done():
			fail(fmt.Errorf("engine stopped: %w", n.Engine.Err()))
		}
	}
}

const (
	// temporalPoll is how often a Temporal that does not answer is tried, each time for
	// temporalTry.
	temporalPoll = time.Second
	temporalTry  = 5 * time.Second
	// temporalRemind is how often the log says so.
	temporalRemind = time.Minute
)

// awaitTemporal waits until Temporal answers, and prepares the namespace.
func (n *Node) awaitTemporal(ctx context.Context) error {
	var said time.Time
	for {
		trying, cancel := context.WithTimeout(ctx, temporalTry)
		err := n.Temporal.CheckNamespace(trying)
		cancel()
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if time.Since(said) > temporalRemind {
			said = time.Now()
			n.log.Warn("no answer from Temporal, retrying", "address", n.Config.Temporal.Address,
				"namespace", n.Config.Temporal.Namespace, "err", err, "remedy", temporalRemedy)
		}
		select {
		case <-ctx.Done():
		case <-time.After(temporalPoll):
		}
	}
	if n.Engine == nil && n.roles.Starter {
		return n.Temporal.RegisterSearchAttributes(ctx, n.log)
	}
	return nil
}

// temporalRemedy is what to do if Temporal does not answer.
const temporalRemedy = "start Temporal, or check temporal.address, temporal.namespace, temporal.tls and temporal.api_key; `holdfast doctor` shows what is wrong"

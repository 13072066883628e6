package workflows

import (
	"slices"

	"go.temporal.io/sdk/workflow"
)

// delivery is the work on state.Undelivered, which goes on beside the turns.
type delivery struct {
	running bool
	pause   workflow.CancelFunc // leaves the rest in the queue; set while it runs
}

// deliver queues a reply unless outbox is empty. After a cancellation, which drops the queue,
// it returns when the reply is delivered.
func (s *session) deliver(ctx workflow.Context, outbox string) {
	if outbox == "" || slices.Contains(s.state.Undelivered, outbox) {
		return
	}
	_ = workflow.Await(ctx, func() bool { return len(s.state.Undelivered) < s.limits.Undelivered })
	if ctx.Err() != nil {
		s.deliverOne(ctx, outbox)
		return
	}
	s.state.Undelivered = append(s.state.Undelivered, outbox)
	s.resumeDelivery(ctx)
}

// resumeDelivery delivers the queue in order, concurrently.
func (s *session) resumeDelivery(ctx workflow.Context) {
	if s.delivery.running || !s.behind() || ctx.Err() != nil {
		return
	}
	paused, pause := workflow.WithCancel(ctx)
	s.delivery = delivery{true, pause}
	workflow.Go(paused, func(paused workflow.Context) {
		for s.behind() && paused.Err() == nil && s.deliverOne(paused, s.state.Undelivered[0]) {
			s.state.Undelivered = slices.Delete(s.state.Undelivered, 0, 1)
		}
		s.delivery.running = false
		if ctx.Err() != nil {
			s.dropUndelivered()
		}
	})
}

// deliverOne delivers a reply. It reports false if it was cancelled meanwhile. A reply that
// cannot be sent stays in the store.
func (s *session) deliverOne(ctx workflow.Context, outbox string) bool {
	wasCancelled := ctx.Err() != nil
	err := executeDeliver(ctx, s.ref.Channel, outbox)
	if err != nil && !wasCancelled && ctx.Err() != nil {
		return false
	}
	if err != nil {
		workflow.GetLogger(ctx).Error("reply not delivered", "outbox", outbox, "err", err)
	}
	return true
}

// pauseDelivery waits until no delivery is in progress: two attempts at the same time could
// post a reply twice.
func (s *session) pauseDelivery(ctx workflow.Context) {
	s.delivery.pause()
	_ = workflow.Await(ctx, func() bool { return !s.delivery.running })
}

// dropUndelivered leaves the queued replies in the store, once none is being delivered.
func (s *session) dropUndelivered() {
	if !s.delivery.running {
		s.state.Undelivered = nil
	}
}

// behind reports whether replies wait to be delivered.
func (s *session) behind() bool { return len(s.state.Undelivered) > 0 }

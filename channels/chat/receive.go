package chat

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/channels"
)

// Receiver is the half of a chat platform that receives; starters run it.
type Receiver struct {
	platform Platform
	o        ReceiverOptions
	told     throttle // who was told lately that they are not allowed
}

// NewReceiver returns the receiver of a platform.
func NewReceiver(p Platform, o ReceiverOptions) *Receiver {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Receiver{platform: p, o: o}
}

// Run implements [channels.Receiver]. When ctx ends, what the platform delivered is
// accepted and acknowledged within 5 seconds, or neither; then Run returns nil. Other
// errors are those that waiting does not cure, such as an address in use.
func (r *Receiver) Run(ctx context.Context, b channels.Backend) error {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	in := r.inbox(work, b)
	group, receiving := errgroup.WithContext(ctx)
	group.Go(func() error { return r.identify(receiving, in) })
	group.Go(func() error { return r.platform.Receive(receiving, in) })
	err := group.Wait()
	cancel()
	<-in.queues.over()
	_ = in.telling.Wait() // its errors were logged
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// inbox returns an inbox whose deliveries are handled until work ends.
func (r *Receiver) inbox(work context.Context, b channels.Backend) *inbox {
	h := &handler{platform: r.platform, o: r.o, backend: b, log: r.o.Logger, told: &r.told, background: work}
	h.requests, _ = b.(channels.Requests)
	h.pairing, _ = b.(channels.Pairing)
	h.ratings, _ = b.(channels.Ratings)
	h.homes, _ = b.(channels.Homes)
	h.telling.SetLimit(maxTelling)
	return &inbox{handler: h, queues: newQueues(), work: work, ready: make(chan struct{})}
}

// identify calls the platform's Identify until it succeeds.
func (r *Receiver) identify(ctx context.Context, in *inbox) error {
	return Retry(ctx, in.log, "identifying with the platform", func(ctx context.Context) error {
		self, err := r.platform.Identify(ctx)
		if err != nil {
			return err
		}
		in.log.Info("connected", "as", self.Name, "user_id", self.ID, "scope", self.Scope)
		close(in.ready)
		return nil
	})
}

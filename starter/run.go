package starter

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/holdfast-ai/holdfast/channels"
)

// Run runs the receivers and the sweepers until ctx ends. A receiver that fails
// does not stop the others; it is run again after a while. What was accepted is
// signalled, or left to the next start, before it returns.
func (s *Starter) Run(ctx context.Context, receivers map[string]channels.Receiver) error {
	defer s.signals.wait()
	group, ctx := errgroup.WithContext(ctx)
	for name, receiver := range receivers {
		group.Go(func() error {
			s.receive(ctx, name, receiver)
			return nil
		})
	}
	group.Go(func() error {
		s.schedule(ctx)
		return nil
	})
	group.Go(func() error {
		s.every(ctx, sweepInterval, s.sweep)
		return nil
	})
	group.Go(func() error {
		s.every(ctx, orphanInterval, s.adopt)
		return nil
	})
	group.Go(func() error {
		s.every(ctx, subagentInterval, s.watchSubagents)
		return nil
	})
	if err := group.Wait(); err != nil {
		return fmt.Errorf("run the channels: %w", err)
	}
	return nil
}

// receiverPause is how long a receiver that failed rests.
const receiverPause = 5 * time.Second

func (s *Starter) receive(ctx context.Context, name string, receiver channels.Receiver) {
	for {
		err := s.runReceiver(ctx, receiver)
		if ctx.Err() != nil {
			return
		}
		s.log.Error("channel stopped, will be started again", "channel", name, "err", err)
		if !pause(ctx, receiverPause) {
			return
		}
	}
}

// runReceiver runs a receiver once. A panic of its own is its error, so that the
// other channels stay up.
func (s *Starter) runReceiver(ctx context.Context, receiver channels.Receiver) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return receiver.Run(ctx, s)
}

// schedule makes sure of the schedules, until that is done.
func (s *Starter) schedule(ctx context.Context) {
	for {
		err := s.scheduleMemory(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		s.log.Warn("schedules not made yet, will try again", "err", err)
		if !pause(ctx, sweepInterval) {
			return
		}
	}
}

// every calls do at intervals until ctx ends, and logs what it returns.
func (s *Starter) every(ctx context.Context, interval time.Duration, do func(context.Context) error) {
	for pause(ctx, interval) {
		if err := do(ctx); err != nil && ctx.Err() == nil {
			s.log.Error("sweep", "err", err)
		}
	}
}

// pause waits for d and reports whether ctx is still on.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

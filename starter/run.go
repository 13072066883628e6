package starter

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
)

// Run runs the receivers until ctx ends. A receiver that fails is restarted and does not
// affect the others. Before Run returns, what was accepted is signalled or left to the
// dispatcher's next start.
func (s *Starter) Run(ctx context.Context, receivers map[string]channels.Receiver) {
	var running sync.WaitGroup
	for name, receiver := range receivers {
		running.Go(func() { s.receive(ctx, name, receiver) })
	}
	running.Wait()
	s.signals.Wait()
}

// receiverPause is the delay before a failed receiver is restarted.
const receiverPause = 5 * time.Second

func (s *Starter) receive(ctx context.Context, name string, receiver channels.Receiver) {
	for {
		err := s.runReceiver(ctx, receiver)
		if ctx.Err() != nil {
			return
		}
		s.log.Error("channel stopped, restarting it", "channel", name, "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(receiverPause):
		}
	}
}

// runReceiver runs a receiver once. A panic becomes an error, so that the other channels
// stay up.
func (s *Starter) runReceiver(ctx context.Context, receiver channels.Receiver) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return receiver.Run(ctx, s)
}

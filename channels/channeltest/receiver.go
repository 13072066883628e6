package channeltest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/internal/domain"
)

// running is a receiver that runs against a backend in memory.
type running struct {
	Platform
	backend *Backend
	ctx     context.Context
	stop    func() error // ends Run and returns its error
}

func receive(t *testing.T, open func(*testing.T) Platform) running {
	t.Helper()
	r := running{Platform: open(t), backend: NewBackend(nil), ctx: bounded(t)}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.Receiver.Run(ctx, r.backend) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(deadline):
			return errors.New("Run does not return when its context ends")
		}
	})
	t.Cleanup(func() { _ = r.stop() })
	return r
}

func inbound(id, text string) domain.Inbound {
	return domain.Inbound{PlatformID: id, Chat: "c1", Sender: "u1", Text: text}
}

// RunReceiver tests the contract of [channels.Receiver]. Each test calls open once, for a
// channel that is not running, and runs it.
func RunReceiver(t *testing.T, open func(*testing.T) Platform) {
	t.Run("a message arrives as it was sent", func(t *testing.T) {
		t.Parallel()
		r := receive(t, open)
		sent := inbound("m1", "Grüße, \"Welt\" & <all> 👩‍👩‍👧\n- שלום")
		if r.Threads {
			sent.Thread = "t1"
		}
		require.NoError(t, r.Deliver(r.ctx, sent))
		require.NoError(t, r.backend.Await(r.ctx, func(c Counts) bool { return c.Accepted == 1 }))
		got := r.backend.Accepted()[0]
		require.Equal(t, r.Name, got.Channel)
		require.Equal(t, r.Push, got.Push)
		require.NotEmpty(t, got.PlatformID)
		require.Equal(t, sent.Chat, got.Chat)
		require.Equal(t, sent.Thread, got.Thread)
		require.Equal(t, sent.Sender, got.Sender)
		require.Equal(t, sent.Text, got.Text)
	})

	t.Run("a message that was not accepted is not acknowledged and can be redelivered", func(t *testing.T) {
		t.Parallel()
		r := receive(t, open)
		r.backend.FailAccept(1)
		short, cancel := context.WithTimeout(r.ctx, 2*time.Second)
		defer cancel()
		require.Error(t, r.Deliver(short, inbound("m1", "hi")))
		require.NoError(t, r.Deliver(r.ctx, inbound("m1", "hi")))
		require.Len(t, r.backend.Accepted(), 1)
	})

	t.Run("a message is not acknowledged before it is accepted", func(t *testing.T) {
		t.Parallel()
		r := receive(t, open)
		release := r.backend.BlockAccept()
		defer release()
		acked := make(chan error, 1)
		go func() { acked <- r.Deliver(r.ctx, inbound("m1", "hi")) }()
		require.NoError(t, r.backend.Await(r.ctx, func(c Counts) bool { return c.Calls == 1 }))
		require.Empty(t, acked)
		release()
		require.NoError(t, <-acked)
	})

	t.Run("a redelivery is the same message", func(t *testing.T) {
		t.Parallel()
		r := receive(t, open)
		for range 3 {
			require.NoError(t, r.Deliver(r.ctx, inbound("m1", "hi")))
		}
		require.NoError(t, r.Deliver(r.ctx, inbound("m2", "hi")))
		require.Len(t, r.backend.Accepted(), 2)
	})

	t.Run("many messages at once all arrive", func(t *testing.T) {
		t.Parallel()
		r := receive(t, open)
		const n = 50
		acked := make(chan error, n)
		for i := range n {
			go func() { acked <- r.Deliver(r.ctx, inbound(fmt.Sprintf("m%d", i), "hi")) }()
		}
		for range n {
			require.NoError(t, <-acked)
		}
		require.Len(t, r.backend.Accepted(), n)
	})

	t.Run("it runs until its context ends", func(t *testing.T) {
		t.Parallel()
		r := receive(t, open)
		require.NoError(t, r.Deliver(r.ctx, inbound("m1", "hi")))
		if err := r.stop(); err != nil {
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}

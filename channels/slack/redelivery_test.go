package slack_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// Edge case E10.
func TestAnEventDeliveredThreeTimesIsOneMessage(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{})
		d := r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi"))
		for _, event := range d.Events {
			r.acked(r.Redeliver(event.ID))
			r.acked(r.Redeliver(event.ID))
		}
		require.Len(t, r.backend.Accepted(), 1)

		require.NoError(t, r.stop())
		r.run(r.backend)
		r.ready()
		r.acked(r.Redeliver(d.Events[0].ID))
		require.Len(t, r.backend.Accepted(), 1)
	})
}

// The second event of a mention is not worth a signal.
func TestBothEventsOfAMentionAreAcceptedOnce(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		calls := &counted{}
		r := receive(t, mode, receivingSetup{wrap: func(b *channeltest.Backend) channels.Backend {
			calls.Backend = b
			return calls
		}})
		r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi"))
		require.EqualValues(t, 1, calls.accepts.Load())
		r.acked(r.Say(slacktest.Ana, slacktest.General, slacktest.Mention+" hi"))
		require.EqualValues(t, 2, calls.accepts.Load())
	})
}

// counted counts what it is asked to accept.
type counted struct {
	*channeltest.Backend
	accepts atomic.Int64
}

func (c *counted) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	c.accepts.Add(1)
	return c.Backend.Accept(ctx, msg)
}

func TestARetryIsNeverDropped(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{slack: []slacktest.Option{slacktest.AckTimeout(300 * time.Millisecond), slacktest.Subscribe("message.im")}})
		r.backend.FailAccept(2)
		d := r.acked(r.Say(slacktest.Ana, slacktest.DM, "hi"))
		require.Len(t, d.Events[0].Attempts(), 3, "two that failed and one that did not")
		require.Len(t, r.backend.Accepted(), 1)
		require.True(t, r.log.has("not acknowledged"))
	})
}

func TestOneConversationIsInOrderAndBlocksNoOther(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		gate := &gated{gate: make(chan struct{}), entered: make(chan struct{}, 1)}
		r := receive(t, mode, receivingSetup{
			options: slack.Options{Respond: chat.RespondAll},
			slack:   []slacktest.Option{slacktest.Subscribe("message.im", "message.channels"), slacktest.AckTimeout(receivingDeadline)},
			wrap: func(b *channeltest.Backend) channels.Backend {
				gate.Backend = b
				return gate
			},
		})
		const n = 10
		var waiting []slacktest.Delivery
		for i := range n {
			waiting = append(waiting, r.Say(slacktest.Ana, slacktest.DM, strconv.Itoa(i)))
			if i == 0 {
				<-gate.entered
			}
			require.NoError(t, r.Await(r.ctx, func() bool { return len(waiting[i].Events[0].Attempts()) == 1 }))
		}
		for i := range n {
			r.acked(r.Say(slacktest.Ana, slacktest.General, "other "+strconv.Itoa(i)))
		}
		require.Len(t, r.backend.Accepted(), n)
		close(gate.gate)
		for _, d := range waiting {
			r.acked(d)
		}
		if mode == slack.ModeHTTP {
			require.Len(t, r.backend.Accepted(), 2*n) // requests that overtake each other on their way have no order
			return
		}
		for i, msg := range r.backend.Accepted()[n:] {
			require.Equal(t, strconv.Itoa(i), msg.Text)
		}
	})
}

// gated is a backend that accepts direct messages only once its gate is open.
type gated struct {
	*channeltest.Backend
	gate    chan struct{}
	entered chan struct{}
}

// Accept implements channels.Backend.
func (g *gated) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	if msg.Chat == dmChat {
		select {
		case g.entered <- struct{}{}:
		default:
		}
		select {
		case <-g.gate:
		case <-ctx.Done():
			return channels.Accepted{}, ctx.Err()
		}
	}
	return g.Backend.Accept(ctx, msg)
}

func TestAPanicIsNotAcknowledgedAndHarmsNoOther(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{
			slack: []slacktest.Option{slacktest.RetryDelays(), slacktest.AckTimeout(300 * time.Millisecond)},
			wrap:  func(b *channeltest.Backend) channels.Backend { return panicking{b} },
		})
		bad := r.Say(slacktest.Ana, slacktest.DM, "panic")
		require.ErrorIs(t, bad.Wait(r.ctx), slacktest.ErrNotAcknowledged)
		require.True(t, r.log.has("it hurts"))
		r.acked(r.Say(slacktest.Ana, slacktest.DM, "fine"))
	})
}

type panicking struct{ channels.Backend }

// Accept implements channels.Backend.
func (p panicking) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	if msg.Text == "panic" {
		panic("it hurts")
	}
	return p.Backend.Accept(ctx, msg)
}

// What is under way when Run is to end is accepted and acknowledged, or neither.
func TestTheEndOfRun(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		r := receive(t, mode, receivingSetup{slack: []slacktest.Option{slacktest.RetryDelays()}})
		release := r.backend.BlockAccept()
		defer release()
		first := r.Say(slacktest.Ana, slacktest.DM, "under way")
		require.NoError(t, r.backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Calls == 1 }))
		second := r.Say(slacktest.Ana, slacktest.DM, "behind it")
		require.NoError(t, r.Await(r.ctx, func() bool { return len(second.Events[0].Attempts()) == 1 }))

		ended := make(chan error, 1)
		go func() { ended <- r.stop() }()
		if mode == slack.ModeHTTP {
			// The one that waits is told at once that it was not accepted.
			require.ErrorIs(t, second.Wait(r.ctx), slacktest.ErrNotAcknowledged)
		}
		require.Never(t, func() bool { return len(ended) > 0 }, 50*time.Millisecond, receivingTick, "Run waits for what is under way")
		release()
		require.NoError(t, <-ended)
		r.acked(first)
		require.ErrorIs(t, second.Wait(r.ctx), slacktest.ErrNotAcknowledged)
		require.Equal(t, "under way", r.accepted(1).Text)
		require.Len(t, r.backend.Accepted(), 1)
	})
}

func TestManyConversationsAtOnce(t *testing.T) {
	t.Parallel()
	r := receive(t, slack.ModeSocket, receivingSetup{options: slack.Options{Respond: chat.RespondAll}, slack: []slacktest.Option{slacktest.Subscribe("message.channels")}})
	const n = 300
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		d := r.Say(slacktest.Ana, slacktest.General, strconv.Itoa(i))
		all.Go(func() { errs[i] = d.Wait(r.ctx) })
	}
	all.Wait()
	require.NoError(t, errors.Join(errs...))
	require.Len(t, r.backend.Accepted(), n)
}

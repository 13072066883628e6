package qq_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/qq"
	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestReceiverConformance(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		channeltest.RunReceiver(t, func(t *testing.T) channeltest.Platform {
			s := &suite{t: t, mode: mode, sent: map[string]string{}, running: make(chan struct{})}
			return channeltest.Platform{Name: qq.Name, Push: true, Receiver: s, Deliver: s.deliver}
		})
	})
}

// suite lets the conformance suite use names of its own for what QQ has IDs for.
type suite struct {
	t       *testing.T
	mode    string
	running chan struct{} // closed once QQ can deliver
	bot     *bot

	mu   sync.Mutex
	sent map[string]string // QQ's ID by the suite's
}

// Run implements channels.Receiver.
func (s *suite) Run(ctx context.Context, b channels.Backend) error {
	s.bot = open(s.t, s.mode, setup{qq: []qqtest.Option{qqtest.Retries()}})
	s.bot.backend = b.(*channeltest.Backend)
	s.bot.run(renaming{s.bot.backend, s.t})
	s.bot.ready()
	close(s.running)
	<-ctx.Done()
	return s.bot.stop()
}

var errNotAccepted = errors.New("the connection ended before the event was accepted")

// deliver delivers a message once. Over the gateway an event is acknowledged when the
// stored session has come to it, and is not when the connection is given up.
func (s *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	select {
	case <-s.running:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	var d qqtest.Delivery
	if id, again := s.sent[msg.PlatformID]; again {
		d = s.bot.Redeliver(id)
	} else {
		d = s.bot.Say(qqtest.AnaChat, qqtest.Ana, msg.Text)
	}
	s.sent[msg.PlatformID] = d.ID
	before := s.bot.Connections()
	s.mu.Unlock()
	if s.mode == qq.ModeHTTP {
		return d.Wait(ctx)
	}
	for {
		stored := s.bot.stored()
		if s.bot.Connections() > before {
			return errNotAccepted
		}
		if stored >= d.Seq {
			return nil
		}
		if err := s.bot.tick(ctx); err != nil {
			return err
		}
	}
}

// renaming gives the suite's names to what arrives.
type renaming struct {
	*channeltest.Backend
	t *testing.T
}

// Accept implements channels.Backend.
func (r renaming) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	require.Equal(r.t, qqtest.AnaChat, msg.Chat)
	require.Equal(r.t, qqtest.Ana, msg.Sender)
	msg.Chat, msg.Scope, msg.Sender = "c1", "c1", "u1"
	return r.Backend.Accept(ctx, msg)
}

func TestSenderConformance(t *testing.T) {
	t.Parallel()
	channeltest.RunSender(t, func(t *testing.T) channeltest.Platform {
		b := open(t, qq.ModeSocket, setup{qq: []qqtest.Option{qqtest.Replies(100)}})
		s := &sender{Channel: b.channel, bot: b, asked: b.asked(qqtest.OpsChat)}
		return channeltest.Platform{
			Name: qq.Name, Push: true, Sender: s, Posted: s.posted,
			Fail:         func(n int) { b.Fail("messages", n, qqtest.Fault{Status: 500}) },
			LoseResponse: func(n int) { b.LoseResponse("messages", n) },
			Close:        func(string) { b.Kick(qqtest.OpsChat) },
			Limit:        func(_ string, n int) { b.SetReplies(n) },
		}
	})
}

// sender answers a message in a group.
type sender struct {
	*qq.Channel
	bot   *bot
	asked string
}

// Send implements channels.Sender.
func (s *sender) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	msg.Chat, msg.ReplyTo = qqtest.OpsChat, s.asked
	return s.Channel.Send(ctx, msg)
}

// Find hides that there is no history: the suite takes it for one.
func (s *sender) Find() {}

func (s *sender) posted() []domain.Outbound {
	var all []domain.Outbound
	for _, m := range s.bot.Sent() {
		all = append(all, domain.Outbound{Chat: "c1", Text: m.Text})
	}
	return all
}

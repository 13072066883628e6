package whatsapp_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/whatsapp"
	"github.com/holdfast-ai/holdfast/channels/whatsapp/whatsapptest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestReceiverConformance(t *testing.T) {
	t.Parallel()
	channeltest.RunReceiver(t, func(t *testing.T) channeltest.Platform {
		s := &suite{t: t, sent: map[string]string{}, running: make(chan struct{})}
		return channeltest.Platform{Name: whatsapp.Name, Push: true, Receiver: s, Deliver: s.deliver}
	})
}

// suite lets the conformance suite use names of its own for what WhatsApp has IDs for.
type suite struct {
	t       *testing.T
	running chan struct{} // closed once WhatsApp can deliver
	number  *number

	mu   sync.Mutex
	sent map[string]string // WhatsApp's ID by the suite's
}

// Run implements channels.Receiver.
func (s *suite) Run(ctx context.Context, b channels.Backend) error {
	s.number = start(s.t, setup{
		whatsapp: []whatsapptest.Option{whatsapptest.Retries()}, backend: b.(*channeltest.Backend),
		wrap: func(b *channeltest.Backend) channels.Backend { return renaming{b, s.t} },
	})
	close(s.running)
	<-ctx.Done()
	return s.number.stop()
}

func (s *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	select {
	case <-s.running:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	var d whatsapptest.Delivery
	if id, again := s.sent[msg.PlatformID]; again {
		d = s.number.Redeliver(id)
	} else {
		d = s.number.Say(whatsapptest.Ana, msg.Text)
	}
	s.sent[msg.PlatformID] = d.IDs[0]
	s.mu.Unlock()
	return d.Wait(ctx)
}

// renaming gives the suite's names to what arrives.
type renaming struct {
	*channeltest.Backend
	t *testing.T
}

// Accept implements channels.Backend.
func (r renaming) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	require.Equal(r.t, whatsapptest.Ana, msg.Chat)
	require.Equal(r.t, whatsapptest.Ana, msg.Sender)
	msg.Chat, msg.Scope, msg.Sender = "c1", "c1", "u1"
	return r.Backend.Accept(ctx, msg)
}

func TestSenderConformance(t *testing.T) {
	t.Parallel()
	channeltest.RunSender(t, func(t *testing.T) channeltest.Platform {
		n := start(t, setup{options: whatsapp.Options{ReportWait: 200 * time.Millisecond}})
		n.asked()
		s := &sender{n.channel, n}
		return channeltest.Platform{
			Name: whatsapp.Name, Push: true, Sender: s, Posted: s.posted,
			Fail:         func(count int) { n.Fail("messages", count, whatsapptest.Fault{Status: 503}) },
			LoseResponse: func(count int) { n.LoseResponse("messages", count) },
			Close:        func(string) { n.Leave(whatsapptest.Ana) },
			Limit:        func(_ string, count int) { n.Limit(whatsapptest.Ana, count) },
		}
	})
}

// sender writes to Ana.
type sender struct {
	*whatsapp.Channel
	number *number
}

// Send implements channels.Sender.
func (s *sender) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	msg.Chat = whatsapptest.Ana
	return s.Channel.Send(ctx, msg)
}

// Find implements channels.Finder. What was sent before its answer was not lost is found
// when its report arrives.
func (s *sender) Find(ctx context.Context, msg domain.Outbound) (channels.Found, error) {
	return s.Channel.Find(ctx, msg)
}

func (s *sender) posted() []domain.Outbound {
	var all []domain.Outbound
	for _, m := range s.number.Sent() {
		all = append(all, domain.Outbound{Chat: "c1", Text: m.Text})
	}
	return all
}

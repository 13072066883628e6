package dingtalk_test

import (
	"context"
	"sync"
	"testing"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/dingtalk"
	"github.com/holdfast-ai/holdfast/channels/dingtalk/dingtalktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, method := range map[string]string{"messages": dingtalktest.SendPerson, "cards": dingtalktest.CreateCard} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			channeltest.Run(t, func(t *testing.T) channeltest.Platform {
				c := &suite{running: make(chan struct{}), sent: map[string]*dingtalktest.Delivery{}}
				c.setup = open(t, func(o *dingtalk.Options) {
					o.Users = []string{channels.Anyone}
					if name == "cards" {
						withCards(o)
					}
				})
				return channeltest.Platform{
					Name: dingtalk.Name, Push: true, Receiver: c, Deliver: c.deliver,
					Sender:       sender{c.channel}, // DingTalk cannot be searched
					Posted:       c.posted,
					Fail:         func(n int) { c.Fail(method, n, faulty.Fault{Status: 502}) },
					LoseResponse: func(n int) { c.LoseResponse(method, n) },
					Close:        c.Remove,
				}
			})
		})
	}
}

// sender is a channel without the ability to find what it sent.
type sender struct {
	channel interface {
		channels.Sender
		channels.Keyed
	}
}

func (s sender) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	return s.channel.Send(ctx, msg)
}

// suite is a channel for the conformance suite.
type suite struct {
	*setup
	running chan struct{}

	mu   sync.Mutex
	sent map[string]*dingtalktest.Delivery
}

// Run implements channels.Receiver.
func (c *suite) Run(ctx context.Context, b channels.Backend) error {
	c.start(renaming{b.(*channeltest.Backend)})
	c.await(func() bool { return c.Connections() == 1 })
	close(c.running)
	<-ctx.Done()
	return c.stop()
}

func (c *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	select {
	case <-c.running:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	d := c.sent[msg.PlatformID]
	if d == nil {
		d = c.Say(msg.Sender, msg.Text)
	} else {
		d.Again()
	}
	c.sent[msg.PlatformID] = d
	c.mu.Unlock()
	return d.Wait(ctx)
}

func (c *suite) posted() []domain.Outbound {
	var all []domain.Outbound
	for _, p := range c.Posts() {
		all = append(all, domain.Outbound{Chat: p.To, Text: p.Text})
	}
	for _, card := range c.Cards() {
		all = append(all, domain.Outbound{Chat: card.To, Text: card.Text})
	}
	return all
}

// renaming gives the suite's names to what arrives.
type renaming struct{ *channeltest.Backend }

// Accept implements channels.Backend.
func (r renaming) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	msg.Chat, msg.Scope = "c1", "c1"
	return r.Backend.Accept(ctx, msg)
}

package wechat_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform {
		c := &suite{running: make(chan struct{}), ids: map[string]string{}}
		c.setup = open(t, channeltest.NewBackend(nil), func(o *wechat.Options) {
			o.AllowUsers, o.Replies = []string{channels.Anyone}, 50
		})
		c.Limit(50)
		require.NoError(t, wechat.Open(c.ctx, c.channel, "c1", c.Greet("c1"), time.Now()))
		return channeltest.Platform{
			Name: wechat.Name, Push: true, Receiver: c, Deliver: c.deliver,
			Sender:       struct{ channels.Sender }{c.channel}, // WeChat cannot be searched
			Posted:       c.sent,
			Fail:         func(n int) { c.Fail(wechattest.SendMessage, n, faulty.Fault{Status: 502}) },
			LoseResponse: func(n int) { c.LoseResponse(wechattest.SendMessage, n) },
			Limit:        func(chat string, n int) { require.NoError(t, wechat.Spend(c.ctx, c.channel, chat, n)) },
		}
	})
}

// suite lets the conformance suite use names of its own for what WeChat has IDs for.
type suite struct {
	*setup
	running chan struct{}

	mu  sync.Mutex
	ids map[string]string // WeChat's by the suite's
}

// Run implements channels.Receiver.
func (c *suite) Run(ctx context.Context, b channels.Backend) error {
	c.backend = b.(*channeltest.Backend)
	close(c.running)
	return c.channel.Run(ctx, renaming{c.backend})
}

// deliver has a message written, and returns nil once the cursor is behind it.
func (c *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	select {
	case <-c.running:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	if c.ids[msg.PlatformID] == "" {
		c.ids[msg.PlatformID] = c.Say(msg.Sender, msg.Text)
	} else {
		c.Again(c.ids[msg.PlatformID])
	}
	at, failures := c.Written(), c.log.count("accept a message")
	c.mu.Unlock()
	for {
		cursor, err := c.backend.Cursor(ctx, wechat.Name, "updates/"+wechattest.BotID)
		switch {
		case err != nil:
			return err
		case wechattest.Position(cursor) >= at:
			return nil
		case c.log.count("accept a message") > failures:
			return errors.New("not acknowledged")
		case ctx.Err() != nil:
			return ctx.Err()
		}
		time.Sleep(tick)
	}
}

func (c *suite) sent() []domain.Outbound {
	var all []domain.Outbound
	for _, p := range c.Posts() {
		all = append(all, domain.Outbound{Chat: p.To, Text: p.Text})
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

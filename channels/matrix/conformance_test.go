package matrix_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/matrix"
	"github.com/holdfast-ai/holdfast/channels/matrix/matrixtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform {
		c := &suite{running: make(chan struct{}), ids: map[string]string{}}
		c.setup = open(t, func(o *matrix.Options) {
			o.Users, o.Chats, o.Respond = []string{channels.Anyone}, []string{channels.Anyone}, chat.RespondAll
		})
		c.Named("c1", "u1", "u2")
		return channeltest.Platform{
			Name: matrix.Name, Push: true, Threads: true, Receiver: c, Deliver: c.deliver, Sender: c.channel, Posted: c.posted,
			Fail:         func(n int) { c.Fail(matrixtest.Send, n, faulty.Fault{Status: 502}) },
			LoseResponse: func(n int) { c.LoseResponse(matrixtest.Send, n) },
			Close:        func(room string) { c.Move(room, "u1", matrixtest.Bot, "ban") },
		}
	})
}

// suite lets the conformance suite use names of its own for messages.
type suite struct {
	*setup
	running chan struct{}

	mu  sync.Mutex
	ids map[string]string // Matrix's by the suite's
}

// Run implements channels.Receiver.
func (c *suite) Run(ctx context.Context, b channels.Backend) error {
	c.backend = b.(*channeltest.Backend)
	close(c.running)
	return c.channel.Run(ctx, b)
}

// deliver has a message written, and returns nil once the position is behind it.
func (c *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	<-c.running
	if err := c.Await(ctx, func() bool { return c.Since() != "" }); err != nil {
		return err
	}
	c.mu.Lock()
	if id := c.ids[msg.PlatformID]; id != "" {
		c.Again(msg.Chat, id)
	} else {
		var options []matrixtest.SayOption
		if msg.Thread != "" {
			options = append(options, matrixtest.InThread(msg.Thread))
		}
		c.ids[msg.PlatformID] = c.Say(msg.Sender, msg.Chat, msg.Text, options...)
	}
	at, failures := matrixtest.Number(c.Position()), c.log.count("accept a message")
	c.mu.Unlock()
	for {
		cursor, err := c.backend.Cursor(ctx, matrix.Name, "sync")
		switch {
		case err != nil:
			return err
		case matrixtest.Number(cursor) >= at:
			return nil
		case c.log.count("accept a message") > failures:
			return errors.New("not acknowledged")
		case ctx.Err() != nil:
			return ctx.Err()
		}
		time.Sleep(tick)
	}
}

func (c *suite) posted() (all []domain.Outbound) {
	for _, m := range c.ours("c1") {
		all = append(all, domain.Outbound{Chat: "c1", Text: m.Body})
	}
	return all
}

package telegram_test

import (
	"context"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform {
		b := open(t, respond(telegram.RespondAll))
		b.SetPrivacy(false)
		s := &suite{bot: b, sent: map[string]*telegramtest.Delivery{}}
		return channeltest.Platform{
			Name: telegram.Name, Push: true, Threads: true,
			Receiver: s, Deliver: s.deliver,
			Sender: sender{s},
			Posted: s.posted,
			Fail: func(n int) {
				b.Fail(telegramtest.Sends, n, telegramtest.Fault{Status: http.StatusBadGateway})
			},
			LoseResponse: func(n int) { b.LoseResponse(telegramtest.Sends, n) },
			Close: func(string) {
				b.CloseChat(telegramtest.Forum, "Forbidden: bot was kicked from the supergroup chat")
			},
		}
	})
}

// suite lets the conformance suite use names of its own for what Telegram has IDs for.
type suite struct {
	*bot
	mu   sync.Mutex
	sent map[string]*telegramtest.Delivery
}

// Run implements channels.Receiver.
func (s *suite) Run(ctx context.Context, b channels.Backend) error {
	return s.channel.Run(ctx, renaming{b.(*channeltest.Backend), s})
}

// deliver delivers a message once: the suite wants to know what the bot does first.
func (s *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	s.mu.Lock()
	d, again := s.sent[msg.PlatformID]
	if again {
		d = s.Again(d)
	} else {
		var options []telegramtest.SayOption
		if msg.Thread != "" {
			options = append(options, telegramtest.InTopic(telegramtest.Topic))
		}
		d = s.Say(telegramtest.Ana, telegramtest.Forum, msg.Text, options...)
		s.sent[msg.PlatformID] = d
	}
	s.mu.Unlock()
	return d.First(ctx)
}

func (s *suite) posted() []domain.Outbound {
	var posted []domain.Outbound
	for _, m := range s.Posted(telegramtest.Forum) {
		posted = append(posted, domain.Outbound{Channel: telegram.Name, Chat: "c1", Text: m.Text})
	}
	return posted
}

// sender sends to the suite's chat. It has no Finder: Telegram shows no history.
type sender struct{ s *suite }

// Send implements channels.Sender.
func (x sender) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	msg.Chat = chatID(telegramtest.Forum)
	return x.s.channel.Send(ctx, msg)
}

// renaming gives the suite's names to what arrives.
type renaming struct {
	*channeltest.Backend
	s *suite
}

// Accept implements channels.Backend.
func (r renaming) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	require.Equal(r.s.t, chatID(telegramtest.Forum), msg.Chat)
	require.Equal(r.s.t, chatID(telegramtest.Ana), msg.Sender)
	msg.Chat, msg.Scope, msg.Sender = "c1", "c1", "u1"
	if msg.Thread != "" {
		require.Equal(r.s.t, chatID(telegramtest.Topic), msg.Thread)
		msg.Thread = "t1"
	}
	return r.Backend.Accept(ctx, msg)
}

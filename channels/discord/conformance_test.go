package discord_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform {
		s := &suite{
			bot:     newBot(t, settings{AllowUsers: []string{"*"}, Respond: chat.RespondAll}),
			threads: map[string]string{}, sent: map[string]*discordtest.Message{}, running: make(chan struct{}), answers: map[string]chan error{},
		}
		return channeltest.Platform{
			Name: discord.Name, Push: true, Threads: true, Receiver: s, Deliver: s.deliver,
			Sender: renamingSender{s.channel}, Posted: s.posted,
			Fail:         func(n int) { s.Inject(discordtest.Fault{Method: "POST", Path: "/messages", Times: n, Status: 503}) },
			LoseResponse: func(n int) { s.LoseAnswers("POST", "/messages", n) },
			Close:        func(string) { s.Remove(discordtest.General) },
		}
	})
}

// suite lets the conformance suite use names of its own for what Discord has IDs for.
type suite struct {
	*bot
	running chan struct{} // closed once Discord can deliver

	mu      sync.Mutex
	backend *channeltest.Backend
	threads map[string]string // the suite's name by Discord's, and the other way round
	sent    map[string]*discordtest.Message
	answers map[string]chan error // of Accept, by message
}

// Run implements channels.Receiver.
func (s *suite) Run(ctx context.Context, b channels.Backend) error {
	s.backend = b.(*channeltest.Backend)
	s.runOn(renaming{s.backend, s})
	require.NoError(s.t, s.AwaitSessions(ctx, 1, 0))
	close(s.running)
	<-ctx.Done()
	return s.stop()
}

// deliver delivers a message. Discord wants no acknowledgement: this returns what the
// channel is told when it has the message accepted.
func (s *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	select {
	case <-s.running:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	m, again := s.sent[msg.PlatformID]
	answer := make(chan error, 10)
	if again {
		s.Redeliver(m)
	} else {
		m = s.Say(discordtest.Ana, s.place(msg.Thread), msg.Text)
		s.sent[msg.PlatformID], s.answers[m.ID] = m, answer
	}
	s.mu.Unlock()
	if again { // it may have been accepted by then, and is not accepted again
		return s.backend.Await(ctx, func(channeltest.Counts) bool {
			return slices.ContainsFunc(s.backend.Accepted(), func(known domain.Inbound) bool { return known.PlatformID == m.ID })
		})
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// place returns the channel or thread in which the suite writes.
func (s *suite) place(thread string) string {
	if thread == "" {
		return discordtest.General
	}
	if s.threads[thread] == "" {
		id := s.OpenThread(discordtest.Ana, discordtest.General, "", "a thread")
		s.threads[thread], s.threads[id] = id, thread
	}
	return s.threads[thread]
}

func (s *suite) posted() []domain.Outbound {
	var all []domain.Outbound
	for _, m := range s.Ours(discordtest.General) {
		all = append(all, domain.Outbound{Chat: "c1", Text: discord.Unmarked(m.Content)})
	}
	return all
}

// renaming gives the suite's names to what arrives.
type renaming struct {
	*channeltest.Backend
	s *suite
}

// Accept implements channels.Backend.
func (r renaming) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	require.Equal(r.s.t, generalChat, msg.Chat)
	require.Equal(r.s.t, discordtest.Ana, msg.Sender)
	msg.Chat, msg.Sender = "c1", "u1"
	r.s.mu.Lock()
	msg.Thread = r.s.threads[msg.Thread]
	answer := r.s.answers[msg.PlatformID]
	r.s.mu.Unlock()
	receipt, err := r.Backend.Accept(ctx, msg)
	answer <- err
	return receipt, err
}

// renamingSender takes the suite's names for chats.
type renamingSender struct{ *discord.Channel }

// Send implements channels.Sender.
func (r renamingSender) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	msg.Chat = generalChat
	return r.Channel.Send(ctx, msg)
}

// Find implements channels.Finder.
func (r renamingSender) Find(ctx context.Context, msg domain.Outbound) (channels.Found, error) {
	msg.Chat = generalChat
	return r.Channel.Find(ctx, msg)
}

package mattermost_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/channeltest/faulty"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/mattermost"
	"github.com/holdfast-ai/holdfast/channels/mattermost/mattermosttest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform {
		s := &suite{
			setup: open(t, func(o *mattermost.Options) { o.Users, o.Respond = []string{"*"}, chat.RespondAll }),
			roots: map[string]string{}, sent: map[string]mattermosttest.Post{}, answers: map[string]chan error{}, running: make(chan struct{}),
		}
		return channeltest.Platform{
			Name: mattermost.Name, Push: true, Threads: true, Receiver: s, Deliver: s.deliver,
			Sender: renamingSender{s.channel}, Posted: s.posted,
			Fail:         func(n int) { s.Fail(mattermosttest.CreatePost, n, faulty.Fault{Status: 503}) },
			LoseResponse: func(n int) { s.LoseResponse(mattermosttest.CreatePost, n) },
			Close:        func(string) { s.Leave(mattermosttest.DM) },
		}
	})
}

// suite lets the conformance suite use names of its own for what Mattermost has IDs for.
type suite struct {
	*setup
	running chan struct{} // closed once Mattermost can deliver

	mu      sync.Mutex
	roots   map[string]string // the suite's thread by Mattermost's, and the other way round
	sent    map[string]mattermosttest.Post
	answers map[string]chan error // of Accept, by message
}

// Run implements channels.Receiver.
func (s *suite) Run(ctx context.Context, b channels.Backend) error {
	s.backend = b.(*channeltest.Backend)
	s.start(renaming{s.backend, s})
	s.settled()
	close(s.running)
	<-ctx.Done()
	return s.stop()
}

// deliver delivers a message. Mattermost wants no acknowledgement: this returns what the
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
		s.Redeliver(m.ID)
	} else {
		m = s.Say(mattermosttest.Ana, mattermosttest.DM, msg.Text, s.in(msg.Thread))
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

// in writes in the thread that the suite names.
func (s *suite) in(thread string) mattermosttest.SayOption {
	if thread != "" && s.roots[thread] == "" {
		root := s.Say(mattermosttest.BotID, mattermosttest.DM, "a thread").ID
		s.roots[thread], s.roots[root] = root, thread
	}
	return mattermosttest.In(s.roots[thread])
}

func (s *suite) posted() []domain.Outbound {
	var all []domain.Outbound
	for _, p := range s.Ours(mattermosttest.DM) {
		all = append(all, domain.Outbound{Chat: "c1", Text: p.Message})
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
	require.Equal(r.s.t, directly, msg.Chat)
	require.Equal(r.s.t, mattermosttest.Ana, msg.Sender)
	msg.Chat, msg.Sender = "c1", "u1"
	r.s.mu.Lock()
	msg.Thread = r.s.roots[msg.Thread]
	answer := r.s.answers[msg.PlatformID]
	r.s.mu.Unlock()
	receipt, err := r.Backend.Accept(ctx, msg)
	answer <- err
	return receipt, err
}

// renamingSender takes the suite's names for chats.
type renamingSender struct{ *mattermost.Channel }

// Send implements channels.Sender.
func (r renamingSender) Send(ctx context.Context, msg domain.Outbound) (channels.Sent, error) {
	msg.Chat = directly
	return r.Channel.Send(ctx, msg)
}

// Find implements channels.Finder.
func (r renamingSender) Find(ctx context.Context, msg domain.Outbound) (channels.Found, error) {
	msg.Chat = directly
	return r.Channel.Find(ctx, msg)
}

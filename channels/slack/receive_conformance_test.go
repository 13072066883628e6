package slack_test

import (
	"context"
	"sync"
	"testing"

	"github.com/slack-go/slack/slackutilsx"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestReceiverConformance(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		channeltest.RunReceiver(t, func(t *testing.T) channeltest.Platform {
			s := &suite{t: t, mode: mode, threads: map[string]string{}, sent: map[string]slacktest.Delivery{}, running: make(chan struct{})}
			return channeltest.Platform{Name: slack.Name, Push: true, Threads: true, Receiver: s, Deliver: s.deliver}
		})
	})
}

// suite lets the conformance suite use names of its own for what Slack has IDs for.
type suite struct {
	t       *testing.T
	mode    string
	running chan struct{} // closed once Slack can deliver
	slack   *receiving

	mu      sync.Mutex
	threads map[string]string // the suite's name by Slack's, and the other way round
	sent    map[string]slacktest.Delivery
}

// Run implements channels.Receiver.
func (s *suite) Run(ctx context.Context, b channels.Backend) error {
	s.slack = receive(s.t, s.mode, receivingSetup{
		options: slack.Options{AllowUsers: []string{"*"}, AllowChannels: []string{"*"}, Respond: chat.RespondAll},
		slack:   []slacktest.Option{slacktest.RetryDelays(), slacktest.Subscribe("message.channels")},
		wrap:    func(*channeltest.Backend) channels.Backend { return renaming{b.(*channeltest.Backend), s} },
	})
	close(s.running)
	<-ctx.Done()
	return s.slack.stop()
}

func (s *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	select {
	case <-s.running:
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	d, again := s.sent[msg.PlatformID]
	if again {
		d = s.slack.Redeliver(d.Events[0].ID)
	} else {
		d = s.say(msg)
	}
	s.sent[msg.PlatformID] = d
	s.mu.Unlock()
	return d.Wait(ctx)
}

func (s *suite) say(msg domain.Inbound) slacktest.Delivery {
	var options []slacktest.SayOption
	if msg.Thread != "" {
		if s.threads[msg.Thread] == "" {
			s.threads[msg.Thread] = s.slack.Say(slacktest.Ana, slacktest.General, "joined", slacktest.WithSubtype("channel_join")).TS
		}
		options = append(options, slacktest.InThread(s.threads[msg.Thread]))
		s.threads[s.threads[msg.Thread]] = msg.Thread
	}
	return s.slack.Say(slacktest.Ana, slacktest.General, slackutilsx.EscapeMessage(msg.Text), options...)
}

// renaming gives the suite's names to what arrives.
type renaming struct {
	*channeltest.Backend
	s *suite
}

// Accept implements channels.Backend.
func (r renaming) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	require.Equal(r.s.t, slacktest.Team+"/"+slacktest.General, msg.Chat)
	require.Equal(r.s.t, slacktest.Ana, msg.Sender)
	msg.Chat, msg.Scope, msg.Sender = "c1", "c1", "u1"
	r.s.mu.Lock()
	msg.Thread = r.s.threads[msg.Thread]
	r.s.mu.Unlock()
	return r.Backend.Accept(ctx, msg)
}

package feishu_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/feishu"
	"github.com/holdfast-ai/holdfast/channels/feishu/feishutest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

func TestReceiverConformance(t *testing.T) {
	t.Parallel()
	eachMode(t, func(t *testing.T, mode string) {
		channeltest.RunReceiver(t, func(t *testing.T) channeltest.Platform {
			s := &suite{
				rig: start(t, setup{mode: mode, idle: true, options: feishu.Options{Respond: chat.RespondAll}}), running: make(chan struct{}),
				sent: map[string]*feishutest.Delivery{}, topics: map[string]string{},
			}
			return channeltest.Platform{Name: feishu.Name, Push: true, Threads: true, Receiver: s, Deliver: s.deliver}
		})
	})
}

// suite lets the conformance suite use names of its own for what Feishu has IDs for.
type suite struct {
	*rig
	running chan struct{} // closed once Feishu can deliver

	mu     sync.Mutex
	sent   map[string]*feishutest.Delivery
	topics map[string]string // the message that began a topic by the suite's name, and the other way round
}

// Run implements channels.Receiver.
func (s *suite) Run(ctx context.Context, b channels.Backend) error {
	s.backend, _ = b.(*channeltest.Backend)
	ended := make(chan error, 1)
	go func() { ended <- s.channel.Run(ctx, renaming{s.backend, s}) }()
	s.ready()
	close(s.running)
	return <-ended
}

func (s *suite) deliver(ctx context.Context, msg domain.Inbound) error {
	<-s.running
	s.mu.Lock()
	d, again := s.sent[msg.PlatformID]
	if again {
		d = s.Redeliver(d)
	} else {
		d = s.say(msg)
	}
	s.sent[msg.PlatformID] = d
	s.mu.Unlock()
	return d.Wait(ctx)
}

func (s *suite) say(msg domain.Inbound) *feishutest.Delivery {
	var options []feishutest.SayOption
	if msg.Thread != "" {
		root := s.topics[msg.Thread]
		if root == "" {
			root = s.send(outgoing("root-"+msg.Thread, feishutest.General, "root"))
			s.topics[msg.Thread], s.topics[root] = root, msg.Thread
		}
		options = append(options, feishutest.InTopic(root))
	}
	return s.Say(feishutest.Ana, feishutest.General, msg.Text, options...)
}

// renaming gives the backend the suite's names.
type renaming struct {
	*channeltest.Backend
	s *suite
}

// Accept implements channels.Backend.
func (r renaming) Accept(ctx context.Context, msg domain.Inbound) (channels.Accepted, error) {
	if msg.Chat == feishutest.General {
		msg.Chat = "c1"
	}
	if msg.Sender == feishutest.Ana {
		msg.Sender = "u1"
	}
	if msg.Thread != "" {
		r.s.mu.Lock()
		msg.Thread = r.s.topics[msg.Thread]
		r.s.mu.Unlock()
	}
	return r.Backend.Accept(ctx, msg)
}

func TestSenderConformance(t *testing.T) {
	t.Parallel()
	channeltest.RunSender(t, func(t *testing.T) channeltest.Platform {
		r := start(t, setup{idle: true})
		r.AddChat(feishutest.Chat{ID: "c1", Name: "c1"})
		return channeltest.Platform{
			Name: feishu.Name, Push: true, Sender: r.channel,
			Posted: func() []domain.Outbound {
				var posted []domain.Outbound
				for _, m := range r.Posted() {
					posted = append(posted, domain.Outbound{Channel: feishu.Name, Chat: m.Chat, Text: m.Text()})
				}
				return posted
			},
			Fail:         func(n int) { r.Fail(feishutest.CallCreate, n, feishutest.Fault{Status: 503}) },
			LoseResponse: func(n int) { r.LoseResponse(feishutest.CallCreate, n) },
			Close:        func(chat string) { r.Dissolve(chat) },
		}
	})
}

func TestWithoutSettings(t *testing.T) {
	t.Parallel()
	_, err := feishu.New(feishu.Options{AppID: "cli_1"})
	require.ErrorContains(t, err, "app_secret")
	_, err = feishu.New(feishu.Options{AppID: "cli_1", AppSecret: "s", Mode: feishu.ModeWebhook})
	require.ErrorContains(t, err, "encrypt_key")
}

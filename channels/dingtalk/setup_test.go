package dingtalk_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/dingtalk"
	"github.com/holdfast-ai/holdfast/channels/dingtalk/dingtalktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	deadline = 20 * time.Second
	tick     = time.Millisecond
)

var fast = chat.Pace{Notice: tick, Draft: tick, Status: tick, Edit: tick, Call: time.Second, Retry: tick}

// setup is a channel and the DingTalk that it talks to.
type setup struct {
	*dingtalktest.Server
	t       *testing.T
	ctx     context.Context
	backend *channeltest.Backend
	channel *dingtalk.Channel
	log     *logbook
	stop    func() error
}

func open(t *testing.T, change func(*dingtalk.Options)) *setup {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	s := &setup{Server: dingtalktest.Start(t), t: t, ctx: ctx, backend: channeltest.NewBackend(nil), log: &logbook{}}
	o := dingtalk.Options{
		ClientID: dingtalktest.ClientID, ClientSecret: dingtalktest.ClientSecret, APIURL: s.URL(), UploadURL: s.URL(),
		Options: chat.Options{
			ReceiverOptions: chat.ReceiverOptions{
				Access:  chat.Access{Users: []string{dingtalktest.Ana, dingtalktest.Ben}, Chats: []string{dingtalktest.Group}},
				Respond: chat.RespondMention, Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			},
			FileLimit: 1 << 20, Drafts: true,
		},
	}
	if change != nil {
		change(&o)
	}
	channel, err := dingtalk.New(o)
	require.NoError(t, err)
	channel.UseStore(s.backend)
	dingtalk.SetPace(channel, fast, 10*time.Second)
	s.channel = channel
	return s
}

// withCards has replies be cards.
func withCards(o *dingtalk.Options) { o.CardTemplate = dingtalktest.Template }

// run runs the receiver until the test ends or stop is called, and waits until it receives.
func (s *setup) run() *setup {
	s.t.Helper()
	s.start(s.backend)
	s.await(func() bool { return s.Connections() == 1 })
	return s
}

func (s *setup) start(b channels.Backend) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.channel.Run(ctx, b) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	s.t.Cleanup(func() { require.NoError(s.t, s.stop()) })
}

func (s *setup) accepted(n int) []domain.Inbound {
	s.t.Helper()
	require.NoError(s.t, s.backend.Await(s.ctx, func(c channeltest.Counts) bool { return c.Accepted >= n }), s.log.String())
	return s.backend.Accepted()
}

func (s *setup) await(cond func() bool) {
	s.t.Helper()
	require.NoError(s.t, s.Await(s.ctx, cond), s.log.String())
}

func reply(id, chat, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: dingtalk.Name, Chat: chat, Text: text}
}

// logbook keeps what is logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logbook) has(text string) bool { return strings.Contains(l.String(), text) }

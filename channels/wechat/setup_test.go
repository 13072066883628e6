package wechat_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/wechat"
	"github.com/holdfast-ai/holdfast/channels/wechat/wechattest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	deadline = 20 * time.Second
	tick     = time.Millisecond
)

// fast is the pace of a channel under test.
var fast = chat.Pace{Notice: tick, Draft: tick, Status: tick, Call: time.Second, Retry: tick}

// setup is a channel and the WeChat that it talks to.
type setup struct {
	*wechattest.Server
	t       *testing.T
	ctx     context.Context
	backend *channeltest.Backend
	channel *wechat.Channel
	log     *logbook
	stop    func() error
}

// open opens a channel that is logged in. change may change its options.
func open(t *testing.T, backend *channeltest.Backend, change func(*wechat.Options)) *setup {
	t.Helper()
	s := openAt(t, wechattest.Start(t), backend, change)
	s.logIn()
	return s
}

func openAt(t *testing.T, server *wechattest.Server, backend *channeltest.Backend, change func(*wechat.Options)) *setup {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	s := &setup{Server: server, t: t, ctx: ctx, backend: backend, log: &logbook{}}
	o := wechat.Options{
		APIURL: s.URL(), CDNURL: s.CDNURL(), AllowUsers: []string{wechattest.Ana, wechattest.Ben}, FileLimit: 1 << 20,
		Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	if change != nil {
		change(&o)
	}
	channel := wechat.New(o)
	channel.UseStore(backend)
	wechat.SetPace(channel, tick, time.Minute, fast)
	s.channel = channel
	return s
}

// logIn stores a login with the server's token.
func (s *setup) logIn() {
	s.t.Helper()
	require.NoError(s.t, wechat.LogIn(s.ctx, s.channel, wechat.Account{BotID: wechattest.BotID, Token: s.Token(), BaseURL: s.URL()}))
}

// run runs the receiver until the test ends or stop is called.
func (s *setup) run() *setup {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.channel.Run(ctx, s.backend) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	s.t.Cleanup(func() { require.NoError(s.t, s.stop()) })
	return s
}

// accepted waits until n messages were accepted.
func (s *setup) accepted(n int) []domain.Inbound {
	s.t.Helper()
	require.NoError(s.t, s.backend.Await(s.ctx, func(c channeltest.Counts) bool { return c.Accepted >= n }), s.log.String())
	return s.backend.Accepted()
}

func (s *setup) await(cond func() bool) {
	s.t.Helper()
	require.NoError(s.t, s.Await(s.ctx, cond), s.log.String())
}

// asked has Ana write something and opens her window as the receiver would.
func (s *setup) asked() {
	s.t.Helper()
	require.NoError(s.t, wechat.Open(s.ctx, s.channel, wechattest.Ana, s.Greet(wechattest.Ana), time.Now()))
}

func reply(id, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: wechat.Name, Chat: wechattest.Ana, Text: text}
}

// posted returns the texts that were posted.
func (s *setup) posted() []string {
	var texts []string
	for _, p := range s.Posts() {
		texts = append(texts, p.Text)
	}
	return texts
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

func (l *logbook) count(text string) int { return strings.Count(l.String(), text) }

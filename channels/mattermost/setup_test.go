package mattermost_test

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
	"github.com/holdfast-ai/holdfast/channels/mattermost"
	"github.com/holdfast-ai/holdfast/channels/mattermost/mattermosttest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	deadline = 20 * time.Second
	tick     = time.Millisecond
	directly = "direct/" + mattermosttest.DM // the chat with Ana
)

var fast = chat.Pace{Notice: tick, Draft: tick, Status: tick, Edit: tick, Call: time.Second, Retry: tick}

// setup is a channel and the Mattermost that it talks to.
type setup struct {
	*mattermosttest.Server
	t       *testing.T
	ctx     context.Context
	backend *channeltest.Backend
	channel *mattermost.Channel
	log     *logbook
	stop    func() error
}

func open(t *testing.T, change func(*mattermost.Options)) *setup {
	t.Helper()
	return openAt(t, mattermosttest.Start(t), channeltest.NewBackend(channeltest.Hold), change)
}

func openAt(t *testing.T, server *mattermosttest.Server, backend *channeltest.Backend, change func(*mattermost.Options)) *setup {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	s := &setup{Server: server, t: t, ctx: ctx, backend: backend, log: &logbook{}}
	o := mattermost.Options{
		URL: s.URL(), Token: mattermosttest.Token,
		Options: chat.Options{
			ReceiverOptions: chat.ReceiverOptions{
				Access:  chat.Access{Users: []string{mattermosttest.Ana, mattermosttest.Ben}, Chats: []string{mattermosttest.General, mattermosttest.Group}},
				Respond: chat.RespondThread, Logger: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
			},
			FileLimit: 1 << 20, Drafts: true,
		},
	}
	if change != nil {
		change(&o)
	}
	channel, err := mattermost.New(o)
	require.NoError(t, err)
	mattermost.SetPace(channel, fast, 10*time.Second)
	s.channel = channel
	return s
}

// withButtons has approvals have buttons.
func withButtons(o *mattermost.Options) {
	o.CallbackURL, o.Listen, o.Path = "http://127.0.0.1:1/mattermost", "127.0.0.1:0", "/mattermost"
}

// run runs the receiver until the test ends or stop is called, and waits until it receives.
func (s *setup) run() *setup {
	s.t.Helper()
	opened, _ := s.Sessions()
	listed := s.Calls(mattermosttest.Channels)
	s.start(s.backend)
	s.await(func() bool {
		now, _ := s.Sessions()
		return now > opened && s.Calls(mattermosttest.Channels) > listed
	})
	s.settled()
	return s
}

// settled waits until a position is stored: from then on nothing is missed.
func (s *setup) settled() {
	s.t.Helper()
	require.NoError(s.t, s.backend.Await(s.ctx, func(channeltest.Counts) bool { return s.position() != "" }), s.log.String())
}

func (s *setup) position() string {
	position, err := s.backend.Cursor(s.ctx, mattermost.Name, "position")
	require.NoError(s.t, err)
	return position
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
	return domain.Outbound{ID: id, Channel: mattermost.Name, Chat: chat, Text: text}
}

// texts returns what messages say.
func texts(all []domain.Inbound) (said []string) {
	for _, m := range all {
		said = append(said, m.Text)
	}
	return said
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

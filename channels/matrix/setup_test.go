package matrix_test

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
	"github.com/holdfast-ai/holdfast/channels/matrix"
	"github.com/holdfast-ai/holdfast/channels/matrix/matrixtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	deadline = 20 * time.Second
	tick     = time.Millisecond
)

// fast is the pace of a channel under test.
var fast = chat.Pace{Notice: tick, Draft: 5 * tick, Status: tick, Edit: 5 * tick, Call: time.Second, Retry: tick}

// setup is a channel and the homeserver that it talks to.
type setup struct {
	*matrixtest.Server
	t       *testing.T
	ctx     context.Context
	backend *channeltest.Backend
	channel *matrix.Channel
	log     *logbook
	stop    func() error
}

// open opens a channel on a new homeserver. change may change its options.
func open(t *testing.T, change func(*matrix.Options)) *setup {
	t.Helper()
	return openAt(t, matrixtest.Start(t), channeltest.NewBackend(nil), change)
}

func openAt(t *testing.T, server *matrixtest.Server, backend *channeltest.Backend, change func(*matrix.Options)) *setup {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	s := &setup{Server: server, t: t, ctx: ctx, backend: backend, log: &logbook{}}
	o := matrix.Options{Homeserver: server.URL(), AccessToken: matrixtest.Token}
	o.Users, o.Chats = []string{matrixtest.Ana, matrixtest.Ben}, []string{channels.Anyone}
	o.Respond, o.FileLimit, o.Drafts = chat.RespondThread, 1<<20, true
	o.Logger = slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if change != nil {
		change(&o)
	}
	channel, err := matrix.New(o)
	require.NoError(t, err)
	matrix.SetPace(channel, fast)
	s.channel = channel
	return s
}

// run runs the receiver until the test ends or stop is called, and waits until it listens.
func (s *setup) run() *setup {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.channel.Run(ctx, s.backend) }()
	s.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	s.t.Cleanup(func() { require.NoError(s.t, s.stop()) })
	require.NoError(s.t, s.Listening(s.ctx), s.log.String())
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

// direct makes a room in which Ana is alone with the bot.
func (s *setup) direct() (room, chat string) {
	room = s.Room(matrixtest.Ana)
	return room, "direct/" + room
}

// ours returns what the bot said in a room.
func (s *setup) ours(room string) (all []matrixtest.Shown) {
	for _, m := range s.Shown(room) {
		if m.Sender == matrixtest.Bot {
			all = append(all, m)
		}
	}
	return all
}

func reply(chat, id, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: matrix.Name, Chat: chat, Text: text}
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

package qq_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/qq"
	"github.com/holdfast-ai/holdfast/channels/qq/qqtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// deadline is generous: only what hangs reaches it.
const deadline = 20 * time.Second

// bot is a channel at a QQ for tests.
type bot struct {
	*qqtest.Server
	t       *testing.T
	ctx     context.Context
	mode    string
	channel *qq.Channel
	backend *channeltest.Backend
	log     *logbook
	before  int          // connections before it ran
	stop    func() error // ends Run and returns its error
}

// setup overrides a test's defaults.
type setup struct {
	options qq.Options // what is not set is filled in
	qq      []qqtest.Option
	answer  func(domain.Inbound) *channeltest.Answer
	wrap    func(*channeltest.Backend) channels.Backend
}

// open opens a channel that does not run.
func open(t *testing.T, mode string, s setup) *bot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	b := &bot{Server: qqtest.Start(t, s.qq...), t: t, ctx: ctx, mode: mode, backend: channeltest.NewBackend(s.answer), log: &logbook{}}
	o := s.options
	o.Mode, o.AppID, o.Secret, o.APIURL, o.TokenURL, o.Listen, o.Path = mode, qqtest.AppID, qqtest.Secret, b.URL(), b.TokenURL(), "127.0.0.1:0", "/qq"
	o.Logger = slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.Users == nil {
		o.Users, o.Chats = []string{qqtest.Ana}, []string{qqtest.Ops}
	}
	if o.FileLimit == 0 {
		o.FileLimit = 1 << 20
	}
	channel, err := qq.New(o)
	require.NoError(t, err)
	b.channel = channel
	return b
}

// start opens a channel and runs it until QQ can deliver.
func start(t *testing.T, mode string, s setup) *bot {
	t.Helper()
	b := open(t, mode, s)
	var backend channels.Backend = b.backend
	if s.wrap != nil {
		backend = s.wrap(b.backend)
	}
	b.run(backend)
	b.ready()
	return b
}

func (b *bot) run(backend channels.Backend) {
	b.before = b.Connections()
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- b.channel.Run(ctx, backend) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	b.stop = stop
	b.t.Cleanup(func() { require.NoError(b.t, stop()) })
}

func (b *bot) ready() {
	b.t.Helper()
	if b.mode == qq.ModeSocket {
		require.NoError(b.t, b.AwaitConnections(b.ctx, b.before+1))
		return
	}
	require.Eventually(b.t, func() bool { return b.channel.Addr() != nil }, deadline, time.Millisecond)
	b.ServeEvents(b.hook())
}

func (b *bot) hook() string { return "http://" + b.channel.Addr().String() + "/qq" }

// post sends a body to the webhook.
func (b *bot) post(body []byte, header http.Header) (int, string) {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.ctx, http.MethodPost, b.hook(), bytes.NewReader(body))
	require.NoError(b.t, err)
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	require.NoError(b.t, err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	require.NoError(b.t, err)
	return response.StatusCode, strings.TrimSpace(string(answer))
}

// accepted waits for n messages.
func (b *bot) accepted(n int) []domain.Inbound {
	b.t.Helper()
	require.NoError(b.t, b.backend.Await(b.ctx, func(c channeltest.Counts) bool { return c.Accepted >= n }))
	return b.backend.Accepted()
}

// asked has Ana write and returns the message's ID.
func (b *bot) asked(chat string) string { return b.Say(chat, qqtest.Ana, "do something").ID }

// replyTo is the reply to a message, as the outbox has it.
func replyTo(chat, id, text string) domain.Outbound {
	return domain.Outbound{ID: domain.OutboxID(domain.MessageID(qq.Name, chat, id)), Channel: qq.Name, Chat: chat, ReplyTo: id, Text: text}
}

// partOf is a part of a reply.
func partOf(reply domain.Outbound, n int, text string) domain.Outbound {
	reply.ID, reply.Part, reply.Text = domain.PartID(reply.ID, n), n, text
	return reply
}

// eachMode runs a test over both transports.
func eachMode(t *testing.T, test func(t *testing.T, mode string)) {
	t.Helper()
	for _, mode := range []string{qq.ModeSocket, qq.ModeHTTP} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			test(t, mode)
		})
	}
}

// logbook keeps what is logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logbook) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.text.Bytes(), []byte(text))
}

// stored returns the number of the last event up to which the stored session is.
func (b *bot) stored() int64 {
	cursor, err := b.backend.Cursor(b.ctx, qq.Name, "session")
	require.NoError(b.t, err)
	_, seq, _ := strings.Cut(cursor, " ")
	n, _ := strconv.ParseInt(seq, 10, 64)
	return n
}

// tick waits until something may have changed.
func (b *bot) tick(ctx context.Context) error {
	select {
	case <-time.After(time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

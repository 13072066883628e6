package chat_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	deadline = 20 * time.Second
	tick     = time.Millisecond
)

var errDown = errors.New("the platform is down")

// told is something that was said to somebody.
type told struct {
	chat.Place
	person string // empty: everybody in the chat
	text   string
}

// plain is a platform with nothing but what is required.
type plain struct {
	mu      sync.Mutex
	told    []told
	failing int
	inbox   chan chat.Inbox
	receive func(ctx context.Context, in chat.Inbox) error // nil: the test delivers
}

func newPlain() *plain { return &plain{inbox: make(chan chat.Inbox, 1)} }

func (p *plain) Name() string        { return "fake" }
func (p *plain) Limits() chat.Limits { return chat.Limits{} }

func (p *plain) Identify(context.Context) (chat.Self, error) {
	return chat.Self{ID: "bot"}, p.fail()
}

func (p *plain) Receive(ctx context.Context, in chat.Inbox) error {
	if p.receive != nil {
		return p.receive(ctx, in)
	}
	p.inbox <- in
	<-ctx.Done()
	return in.Drain()
}

func (p *plain) Post(_ context.Context, at chat.Place, msg chat.Message) (string, error) {
	return "p1", p.say(told{at, "", msg.Text})
}

func (p *plain) say(t told) error {
	if err := p.fail(); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, t)
	return nil
}

// fail returns an error as often as the test wants.
func (p *plain) fail() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.failing == 0 {
		return nil
	}
	p.failing--
	return errDown
}

func (p *plain) failNext(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failing = n
}

func (p *plain) all() []told {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.told
}

// whisperer is a platform that can tell something to one person.
type whisperer struct{ *plain }

func (w whisperer) Whisper(_ context.Context, at chat.Place, person, text string) error {
	return w.say(told{at, person, text})
}

// running is a receiver that runs against a backend in memory.
type running struct {
	t       *testing.T
	ctx     context.Context
	plain   *plain
	backend *channeltest.Backend
	in      chat.Inbox
	log     *logbook
	stop    func() error
}

// options lets ana in, in the chat "ops".
func options() chat.ReceiverOptions {
	return chat.ReceiverOptions{Access: chat.Access{Users: []string{"ana"}, Chats: []string{"ops"}}, Respond: chat.RespondMention, CommandPrefix: "/"}
}

// run runs a receiver of a platform that is built around a plain one.
func run(t *testing.T, o chat.ReceiverOptions, backend *channeltest.Backend, build func(*plain) chat.Platform) *running {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	r := &running{t: t, ctx: ctx, plain: newPlain(), backend: backend, log: &logbook{}}
	o.Logger = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	platform := build(r.plain)
	receiver := chat.NewReceiver(platform, o)
	until, end := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- receiver.Run(until, backend) }()
	r.stop = sync.OnceValue(func() error {
		end()
		return <-ended
	})
	t.Cleanup(func() { require.NoError(t, r.stop()) })
	if r.plain.receive == nil {
		r.in = <-r.plain.inbox
		require.NoError(t, r.in.Ready(ctx))
	}
	return r
}

// post delivers a message of which the test says what it is about.
func (r *running) post(change func(*chat.Post)) error {
	r.t.Helper()
	_, err := r.in.Deliver(r.ctx, post(change))
	return err
}

var posts struct {
	sync.Mutex
	n int
}

// post is a message from ana in ops that mentions us.
func post(change func(*chat.Post)) *chat.Post {
	posts.Lock()
	posts.n++
	id := strings.Repeat("i", posts.n)
	posts.Unlock()
	p := &chat.Post{Mentioned: true}
	p.Inbound = domain.Inbound{PlatformID: id, Scope: "team/ops", Chat: "team/ops", Sender: "ana", Text: "hi"}
	if change != nil {
		change(p)
	}
	return p
}

// direct makes a message a direct one.
func direct(p *chat.Post) { p.Chat, p.Direct, p.Mentioned = "team/dm", true, false }

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

func (l *logbook) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

func asIs(p *plain) chat.Platform { return p }

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// The in-memory channel is a platform on this core, too.
var _ channels.Receiver = channeltest.NewMemory("memory")

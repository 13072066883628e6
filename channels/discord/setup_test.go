package discord_test

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/discord"
	"github.com/holdfast-ai/holdfast/channels/discord/discordtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// deadline is generous: it is reached only by what hangs.
const (
	deadline = time.Minute
	tick     = 2 * time.Millisecond
)

const generalChat = discordtest.Guild + "/" + discordtest.General

// bot is a channel and the Discord that it is connected to.
type bot struct {
	*discordtest.Server
	t       *testing.T
	ctx     context.Context
	options discord.Options
	channel *discord.Channel
	backend *channeltest.Backend
	log     *logbook
	stop    func() error // ends Run and returns its error
}

// settings are what tests change. What they do not set is filled in.
type settings struct {
	AllowUsers, AllowChannels []string
	Respond                   string
	Stream, Reactions         bool
	FileLimit                 int64
}

// newBot returns a channel that does not run yet.
func newBot(t *testing.T, o settings, options ...discordtest.Option) *bot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	b := &bot{Server: discordtest.Start(t, options...), t: t, ctx: ctx, backend: channeltest.NewBackend(nil), log: &logbook{}}
	if o.AllowUsers == nil {
		o.AllowUsers = []string{discordtest.Ana}
	}
	if o.AllowChannels == nil {
		o.AllowChannels = []string{channels.Anyone}
	}
	b.options = discord.Options{Token: discordtest.Token, APIURL: b.APIURL(), Reactions: o.Reactions}
	b.options.Users, b.options.Chats = o.AllowUsers, o.AllowChannels
	b.options.Respond, b.options.Drafts, b.options.FileLimit = cmp.Or(o.Respond, chat.RespondMention), o.Stream, cmp.Or(o.FileLimit, 1<<20)
	b.options.Logger = slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.open()
	return b
}

// open makes a new channel with the same options, as a restart does.
func (b *bot) open() {
	b.t.Helper()
	channel, err := discord.New(b.options)
	require.NoError(b.t, err)
	channel.Hasten(time.Millisecond)
	b.channel = channel
}

// run runs the channel until stop is called or the test ends.
func (b *bot) run() *bot {
	b.t.Helper()
	return b.runOn(b.backend)
}

func (b *bot) runOn(backend channels.Backend) *bot {
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.t.Context()))
	ended := make(chan error, 1)
	channel := b.channel
	go func() { ended <- channel.Run(ctx, backend) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	b.stop = stop
	b.t.Cleanup(func() { require.NoError(b.t, stop()) })
	return b
}

// receive returns a channel that is connected.
func receive(t *testing.T, o settings, options ...discordtest.Option) *bot {
	t.Helper()
	b := newBot(t, o, options...).run()
	require.NoError(t, b.AwaitSessions(b.ctx, 1, 0))
	return b
}

// accepted waits for the nth message and returns it.
func (b *bot) accepted(n int) domain.Inbound {
	b.t.Helper()
	require.NoError(b.t, b.backend.Await(b.ctx, func(c channeltest.Counts) bool { return c.Accepted >= n }), b.log)
	return b.backend.Accepted()[n-1]
}

// lastWords is what settled says.
const lastWords = "that was all"

// texts returns what was accepted, except what settled said.
func (b *bot) texts() []string {
	texts := []string{}
	for _, msg := range b.backend.Accepted() {
		if msg.Text != lastWords {
			texts = append(texts, msg.Text)
		}
	}
	return texts
}

// settled waits until everything that was written is handled: then the position is that of the
// last message.
func (b *bot) settled() {
	b.t.Helper()
	last := b.Say(discordtest.Ana, b.Direct(discordtest.Ana), lastWords)
	require.Eventually(b.t, func() bool { return b.cursor("position") >= last.ID }, deadline, tick, "%v", b.log)
}

// cursor is what is stored about how far the channel has read.
func (b *bot) cursor(name string) string {
	cursor, err := b.backend.Cursor(b.ctx, discord.Name, name)
	require.NoError(b.t, err)
	return cursor
}

func (b *bot) send(msg domain.Outbound) string {
	b.t.Helper()
	sent, err := b.channel.Send(b.ctx, msg)
	require.NoError(b.t, err)
	return sent.PlatformID
}

// outgoing is a reply in the channel that all are in.
func outgoing(id, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: discord.Name, Chat: generalChat, Text: text}
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

// String implements fmt.Stringer.
func (l *logbook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

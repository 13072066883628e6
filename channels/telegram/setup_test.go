package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/telegram"
	"github.com/holdfast-ai/holdfast/channels/telegram/telegramtest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// deadline is generous: only a hanging test reaches it.
const deadline = 20 * time.Second

var everyone = []string{channels.Anyone}

// bot is a channel with a Telegram of its own.
type bot struct {
	*telegramtest.Server
	t       *testing.T
	ctx     context.Context
	options telegram.Options
	channel *telegram.Channel
	backend *channeltest.Backend
	log     *lines
	stop    func() error
}

// open returns a channel that does not run.
func open(t *testing.T, o telegram.Options) *bot {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	b := &bot{Server: telegramtest.Start(t), t: t, ctx: ctx, backend: channeltest.NewBackend(nil), log: &lines{}}
	o.Token, o.APIURL = telegramtest.Token, b.URL()
	if o.FileLimit == 0 {
		o.FileLimit = 1 << 20
	}
	if o.Users == nil {
		o.Users, o.Chats = everyone, everyone
	}
	if o.Mode == telegram.ModeWebhook {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, listener.Close())
		o.Listen, o.Path = listener.Addr().String(), "/telegram"
		o.WebhookURL = "http://" + o.Listen + o.Path
	}
	o.Logger = slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	b.options = o
	b.renew()
	t.Cleanup(func() { require.NotContains(t, b.log.String(), telegramtest.Token, "the token is secret") })
	return b
}

// respond are options that say which messages in groups are answered.
func respond(which string) telegram.Options {
	return telegram.Options{Options: chat.Options{ReceiverOptions: chat.ReceiverOptions{Respond: which}}}
}

// allowing are options that say who is answered.
func allowing(users, groups []string) telegram.Options {
	return telegram.Options{Options: chat.Options{ReceiverOptions: chat.ReceiverOptions{Access: chat.Access{Users: users, Chats: groups}}}}
}

// renew makes a new channel, as another process would.
func (b *bot) renew() {
	var err error
	b.channel, err = telegram.New(b.options)
	require.NoError(b.t, err)
	b.channel.Hurry()
}

// run runs the channel until the test ends, or stop is called.
func (b *bot) run() {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.ctx)
	ended := make(chan error, 1)
	channel := b.channel
	go func() { ended <- channel.Run(ctx, b.backend) }()
	b.stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(deadline):
			return errors.New("Run does not return when its context ends")
		}
	})
	b.t.Cleanup(func() { _ = b.stop() })
}

// receive opens and runs a channel.
func receive(t *testing.T, o telegram.Options) *bot {
	t.Helper()
	b := open(t, o)
	b.run()
	return b
}

// accepted waits for n messages and returns all.
func (b *bot) accepted(n int) []domain.Inbound {
	b.t.Helper()
	require.NoError(b.t, b.backend.Await(b.ctx, func(c channeltest.Counts) bool { return c.Accepted >= n }))
	return b.backend.Accepted()
}

// confirmed waits until the bot has confirmed an update.
func (b *bot) confirmed(all ...*telegramtest.Delivery) {
	b.t.Helper()
	for _, d := range all {
		if d != nil { // else the bot does not see it
			require.NoError(b.t, d.Wait(b.ctx))
		}
	}
}

// out is a message to Ana.
func out(id, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: telegram.Name, Chat: strconv.Itoa(telegramtest.Ana), Text: text}
}

// meet has Ana write first, without which the bot cannot write to her.
func (b *bot) meet() { b.Say(telegramtest.Ana, telegramtest.Ana, "hello") }

// deliver delivers a message as an outbox does, placeholder first, until it succeeds.
func (b *bot) deliver(msg domain.Outbound) channels.Sent {
	b.t.Helper()
	var outbox outbox
	for range 200 {
		sent, err := outbox.attempt(b.ctx, b.channel, msg)
		if err == nil {
			return sent
		}
	}
	require.Fail(b.t, "not delivered")
	return channels.Sent{}
}

// outbox records placeholders, like the outbox of the worker.
type outbox struct{ placeholder string }

func (o *outbox) attempt(ctx context.Context, c *telegram.Channel, msg domain.Outbound) (sent channels.Sent, err error) {
	if o.placeholder == "" {
		if o.placeholder, err = c.Placeholder(ctx, msg); err != nil {
			return sent, err
		}
	}
	if o.placeholder != "" {
		msg.Draft = o.placeholder
	}
	sent, err = c.Send(ctx, msg)
	if errors.Is(err, channels.ErrNoDraft) {
		o.placeholder = ""
	}
	return sent, err
}

// lines collects a log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// logged waits until the log has a text.
func (b *bot) logged(text string) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return bytes.Contains([]byte(b.log.String()), []byte(text)) }, deadline, time.Millisecond, text)
}

func eachMode(t *testing.T, test func(t *testing.T, mode string)) {
	for _, mode := range []string{telegram.ModePolling, telegram.ModeWebhook} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			test(t, mode)
		})
	}
}

// texts are the texts of messages.
func texts(all []telegramtest.Message) (found []string) {
	for _, m := range all {
		found = append(found, m.Text)
	}
	return found
}

func chatID(n int64) string { return strconv.FormatInt(n, 10) }

// save saves files by name.
func save(saved map[string]string) func(name string, content io.Reader) (string, error) {
	return func(name string, content io.Reader) (string, error) {
		all, err := io.ReadAll(content)
		saved[name] = string(all)
		return "media/" + name, err
	}
}

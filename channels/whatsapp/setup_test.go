package whatsapp_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/whatsapp"
	"github.com/holdfast-ai/holdfast/channels/whatsapp/whatsapptest"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/remote"
)

// deadline is generous: only what hangs reaches it.
const deadline = 20 * time.Second

// number is a channel at a WhatsApp for tests, that runs.
type number struct {
	*whatsapptest.Server
	t       *testing.T
	ctx     context.Context
	channel *whatsapp.Channel
	backend *channeltest.Backend
	log     *logbook
	stop    func() error // ends Run and returns its error
}

// setup overrides a test's defaults.
type setup struct {
	options  whatsapp.Options // what is not set is filled in
	whatsapp []whatsapptest.Option
	backend  *channeltest.Backend
	wrap     func(*channeltest.Backend) channels.Backend
}

func start(t *testing.T, s setup) *number {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	n := &number{Server: whatsapptest.Start(t, s.whatsapp...), t: t, ctx: ctx, backend: s.backend, log: &logbook{}}
	if n.backend == nil {
		n.backend = channeltest.NewBackend(nil)
	}
	n.channel = n.open(s.options)
	var backend channels.Backend = n.backend
	if s.wrap != nil {
		backend = s.wrap(n.backend)
	}
	run, end := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- n.channel.Run(run, backend) }()
	n.stop = sync.OnceValue(func() error {
		end()
		return <-ended
	})
	t.Cleanup(func() { require.NoError(t, n.stop()) })
	require.Eventually(t, func() bool { return n.channel.Addr() != nil }, deadline, time.Millisecond)
	n.ServeEvents(n.hook())
	return n
}

// open opens a channel, such as that of another process.
func (n *number) open(o whatsapp.Options) *whatsapp.Channel {
	n.t.Helper()
	o.PhoneNumberID, o.AccessToken, o.AppSecret, o.VerifyToken = whatsapptest.PhoneNumberID, whatsapptest.AccessToken, whatsapptest.AppSecret, whatsapptest.VerifyToken
	o.APIURL, o.Listen, o.Path = n.APIURL(), "127.0.0.1:0", "/whatsapp"
	o.Logger = slog.New(slog.NewTextHandler(n.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.Users == nil {
		o.Users = []string{"+1 (650) 555-1234", whatsapptest.Hidden}
	}
	if o.FileLimit == 0 {
		o.FileLimit = 1 << 20
	}
	if o.ReportWait == 0 {
		o.ReportWait = 5 * time.Second
	}
	channel, err := whatsapp.New(o)
	require.NoError(n.t, err)
	channel.UseStore(n.backend)
	return channel
}

func (n *number) hook() string { return "http://" + n.channel.Addr().String() + "/whatsapp" }

// post sends a body to the webhook.
func (n *number) post(body []byte, header http.Header) int {
	n.t.Helper()
	request, err := http.NewRequestWithContext(n.ctx, http.MethodPost, n.hook(), bytes.NewReader(body))
	require.NoError(n.t, err)
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	require.NoError(n.t, err)
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	require.NoError(n.t, err)
	return response.StatusCode
}

// accepted waits for n messages.
func (n *number) accepted(count int) []domain.Inbound {
	n.t.Helper()
	require.NoError(n.t, n.backend.Await(n.ctx, func(c channeltest.Counts) bool { return c.Accepted >= count }))
	return n.backend.Accepted()
}

// asked has Ana write, and waits until it is accepted.
func (n *number) asked() string {
	n.t.Helper()
	d := n.Say(whatsapptest.Ana, "do something")
	require.NoError(n.t, d.Wait(n.ctx))
	return d.IDs[0]
}

// deliver sends a message as the outbox does: after an attempt that left no word it looks
// for the message first.
func (n *number) deliver(msg domain.Outbound) channels.Sent {
	n.t.Helper()
	for claimed := false; ; {
		require.NoError(n.t, n.ctx.Err())
		if claimed {
			found, err := n.channel.Find(n.ctx, msg)
			require.NoError(n.t, err)
			if found.Posted {
				return channels.Sent{PlatformID: found.PlatformID}
			}
		}
		sent, err := n.channel.Send(n.ctx, msg)
		if err == nil {
			return sent
		}
		failed := remote.As(err)
		require.NotNil(n.t, failed, "not a remote.Error: %v", err)
		require.False(n.t, failed.Permanent(), "%v", err)
		claimed = failed.Status == 0 || failed.Status >= 500
	}
}

func outgoing(id, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: whatsapp.Name, Chat: whatsapptest.Ana, Text: text}
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

func (l *logbook) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

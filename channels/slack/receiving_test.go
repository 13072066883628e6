package slack_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels"
	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/chat"
	"github.com/holdfast-ai/holdfast/channels/slack"
	"github.com/holdfast-ai/holdfast/channels/slack/slacktest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

// receivingDeadline is generous: it is reached only by what hangs.
const (
	receivingDeadline = 30 * time.Second
	receivingTick     = 2 * time.Millisecond
)

// hasty has Slack soon give up on what is not acknowledged.
var hasty = []slacktest.Option{slacktest.AckTimeout(500 * time.Millisecond), slacktest.RetryDelays(time.Millisecond)}

// receiving is a channel that runs against a Slack and a backend for tests.
type receiving struct {
	*slacktest.Server
	t       *testing.T
	mode    string
	ctx     context.Context
	channel *slack.Channel
	backend *channeltest.Backend
	log     *logbook
	stop    func() error // ends Run and returns its error
}

// receivingSetup overrides a test's defaults.
type receivingSetup struct {
	options slack.Options // what is not set is filled in
	slack   []slacktest.Option
	answer  func(domain.Inbound) *channeltest.Answer
	wrap    func(*channeltest.Backend) channels.Backend // stands before the backend
	tune    func(*slack.Channel)
	down    bool // Slack is, at first
}

// eachMode runs a test over both transports.
func eachMode(t *testing.T, test func(t *testing.T, mode string)) {
	t.Helper()
	for _, mode := range []string{slack.ModeSocket, slack.ModeHTTP} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			test(t, mode)
		})
	}
}

func receive(t *testing.T, mode string, setup receivingSetup) *receiving {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), receivingDeadline)
	t.Cleanup(cancel)
	r := &receiving{Server: slacktest.Start(t, setup.slack...), t: t, mode: mode, ctx: ctx, backend: channeltest.NewBackend(setup.answer), log: &logbook{}}
	o := setup.options
	o.Mode, o.APIURL, o.Listen, o.Path = mode, r.APIURL(), "127.0.0.1:0", "/slack"
	o.BotToken, o.AppToken, o.SigningSecret = slacktest.BotToken, slacktest.AppToken, slacktest.SigningSecret
	o.Logger = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.AllowUsers == nil {
		o.AllowUsers = []string{slacktest.Ana}
	}
	if o.AllowChannels == nil {
		o.AllowChannels = []string{slacktest.General}
	}
	if o.Respond == "" {
		o.Respond = chat.RespondMention
	}
	if setup.down {
		r.Down()
	}
	channel, err := slack.New(o)
	require.NoError(t, err)
	if setup.tune != nil {
		setup.tune(channel)
	}
	r.channel = channel
	var backend channels.Backend = r.backend
	if setup.wrap != nil {
		backend = setup.wrap(r.backend)
	}
	r.run(backend)
	if !setup.down {
		r.ready()
	}
	return r
}

// run runs the channel until stop is called or the test ends.
func (r *receiving) run(b channels.Backend) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.channel.Run(ctx, b) }()
	stop := sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	r.stop = stop
	r.t.Cleanup(func() { require.NoError(r.t, stop()) })
}

// ready waits until Slack can deliver.
func (r *receiving) ready() {
	r.t.Helper()
	if r.mode == slack.ModeSocket {
		require.NoError(r.t, r.AwaitConnections(r.ctx, 1))
		return
	}
	require.Eventually(r.t, func() bool { return r.channel.Addr() != nil }, receivingDeadline, time.Millisecond)
	ping := []byte(`{"type":"event_callback","team_id":"T0OTHER","event":{"type":"message","channel":"C1","user":"U1","ts":"1.2","text":"x"}}`)
	require.Eventually(r.t, func() bool {
		status, _ := r.post(ping, slacktest.Sign(slacktest.SigningSecret, time.Now(), ping))
		return status == http.StatusOK
	}, receivingDeadline, 5*time.Millisecond)
	r.ServeEvents(r.url())
}

func (r *receiving) url() string { return "http://" + r.channel.Addr().String() + "/slack" }

// post sends a body to the channel and returns status and answer.
func (r *receiving) post(body []byte, header http.Header) (int, string) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.ctx, http.MethodPost, r.url(), bytes.NewReader(body))
	require.NoError(r.t, err)
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	require.NoError(r.t, err)
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	require.NoError(r.t, err)
	return response.StatusCode, string(answer)
}

// acked waits until Slack has the acknowledgement of all of a delivery.
func (r *receiving) acked(d slacktest.Delivery) slacktest.Delivery {
	r.t.Helper()
	require.NotEmpty(r.t, d.Events)
	require.NoError(r.t, d.Wait(r.ctx))
	return d
}

// accepted waits for the nth message and returns it.
func (r *receiving) accepted(n int) domain.Inbound {
	r.t.Helper()
	require.NoError(r.t, r.backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Accepted >= n }))
	return r.backend.Accepted()[n-1]
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

func (l *logbook) has(text string) bool { return l.count(text) > 0 }

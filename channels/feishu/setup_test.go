package feishu_test

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
	"github.com/holdfast-ai/holdfast/channels/feishu"
	"github.com/holdfast-ai/holdfast/channels/feishu/feishutest"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	deadline   = 20 * time.Second // only what hangs reaches it
	encryptKey = "encrypt-key"
	token      = "verification-token"
)

// rig is a channel, the platform that it talks to, and the backend that it runs against.
type rig struct {
	*feishutest.Server
	t       *testing.T
	mode    string
	ctx     context.Context
	channel *feishu.Channel
	backend *channeltest.Backend
	log     *logbook
	end     func()       // has Run end
	stop    func() error // ends Run and returns its error; nil if it does not run
}

// setup overrides a test's defaults.
type setup struct {
	mode    string
	options feishu.Options
	fake    []feishutest.Option
	answer  func(domain.Inbound) *channeltest.Answer
	pace    chat.Pace
	pings   time.Duration
	idle    bool // the channel does not receive
}

// quick is a pace without pauses.
var quick = chat.Pace{
	Notice: time.Millisecond, Draft: time.Millisecond, Status: time.Millisecond, Stream: time.Millisecond, Edit: time.Millisecond,
	Call: 5 * time.Second, Retry: 5 * time.Millisecond, Part: time.Millisecond,
}

func eachMode(t *testing.T, test func(t *testing.T, mode string)) {
	t.Helper()
	for _, mode := range []string{feishu.ModeSocket, feishu.ModeWebhook} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			test(t, mode)
		})
	}
}

func start(t *testing.T, s setup) *rig {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	t.Cleanup(cancel)
	o := s.options
	if s.mode == "" {
		s.mode = feishu.ModeSocket
	}
	if s.mode == feishu.ModeWebhook {
		s.fake = append(s.fake, feishutest.Webhook(encryptKey, token))
		o.EncryptKey, o.VerificationToken, o.Listen, o.Path = encryptKey, token, "127.0.0.1:0", "/feishu"
	}
	r := &rig{Server: feishutest.Start(t, s.fake...), t: t, mode: s.mode, ctx: ctx, backend: channeltest.NewBackend(s.answer), log: &logbook{}}
	o.Mode, o.APIURL, o.AppID, o.AppSecret = s.mode, r.URL(), feishutest.AppID, feishutest.AppSecret
	o.Logger = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.AllowUsers == nil {
		o.AllowUsers = []string{feishutest.Ana, feishutest.Ben}
	}
	if o.AllowGroups == nil {
		o.AllowGroups = []string{feishutest.General, feishutest.Topics}
	}
	if o.Respond == "" {
		o.Respond = chat.RespondMention
	}
	if o.FileLimit == 0 {
		o.FileLimit = 1 << 20
	}
	var err error
	r.channel, err = feishu.New(o)
	require.NoError(t, err)
	r.channel.UseStore(r.backend)
	pace := s.pace
	if pace == (chat.Pace{}) {
		pace = quick
	}
	feishu.Tune(r.channel, pace, s.pings)
	if !s.idle {
		r.run()
		r.ready()
	}
	return r
}

// run runs the channel until stop is called or the test ends.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- r.channel.Run(ctx, r.backend) }()
	r.end = cancel
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	r.t.Cleanup(func() { require.NoError(r.t, r.stop()) })
}

// ready waits until the platform can deliver.
func (r *rig) ready() {
	r.t.Helper()
	if r.mode == feishu.ModeWebhook {
		require.Eventually(r.t, func() bool { return r.channel.Webhook().Addr() != nil }, deadline, time.Millisecond)
		r.PointAt("http://" + r.channel.Webhook().Addr().String() + "/feishu")
		return
	}
	require.NoError(r.t, r.Await(r.ctx, func() bool { return r.Connections() > 0 }))
}

// accepted waits until n messages were accepted, and returns them.
func (r *rig) accepted(n int) []domain.Inbound {
	r.t.Helper()
	require.NoError(r.t, r.backend.Await(r.ctx, func(c channeltest.Counts) bool { return c.Accepted >= n }))
	return r.backend.Accepted()
}

// said delivers what somebody says and returns what was accepted; it must be the nth.
func (r *rig) said(d *feishutest.Delivery, n int) domain.Inbound {
	r.t.Helper()
	require.NoError(r.t, d.Wait(r.ctx))
	all := r.accepted(n)
	require.Len(r.t, all, n)
	return all[n-1]
}

// send makes one attempt to send a message, which must succeed.
func (r *rig) send(msg domain.Outbound) string {
	r.t.Helper()
	sent, err := r.channel.Send(r.ctx, msg)
	require.NoError(r.t, err)
	return sent.PlatformID
}

// texts are what the bot has said.
func (r *rig) texts() []string {
	var texts []string
	for _, m := range r.Posted() {
		texts = append(texts, m.Text())
	}
	return texts
}

func outgoing(id, chat, text string) domain.Outbound {
	return domain.Outbound{ID: id, Channel: feishu.Name, Chat: chat, Text: text}
}

// logbook keeps what is logged.
type logbook struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write implements io.Writer.
func (l *logbook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *logbook) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.all.String(), text)
}

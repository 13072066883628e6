package cli_test

import (
	"bytes"
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/cli"
	"github.com/holdfast-ai/holdfast/channels/http"
	"github.com/holdfast-ai/holdfast/channels/http/client"
	"github.com/holdfast-ai/holdfast/internal/domain"
	"github.com/holdfast-ai/holdfast/internal/event"
)

// timeout ends a test that hangs.
const timeout = 20 * time.Second

// agent adapts the HTTP client to a conversation.
type agent struct {
	api *client.Client
}

func (a agent) Send(ctx context.Context, session, id, text string) error {
	_, err := a.api.Send(ctx, session, id, text)
	return err
}

func (a agent) Follow(ctx context.Context, id string, on func(event.Event)) (domain.Reply, error) {
	return a.api.Follow(ctx, id, on)
}

func (a agent) Background(ctx context.Context, session string, after time.Time) ([]domain.BackgroundReply, error) {
	return a.api.Background(ctx, "http:"+session, after)
}

// fixture is an agent behind a real API.
type fixture struct {
	ctx     context.Context
	backend *channeltest.Backend
	options cli.Options
}

func setup(t *testing.T, answer func(domain.Inbound) *channeltest.Answer) *fixture {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	t.Cleanup(cancel)
	f := &fixture{ctx: ctx, backend: channeltest.NewBackend(answer)}
	channel, err := http.New(http.Options{Listen: "127.0.0.1:0", Version: "v1"})
	require.NoError(t, err)
	serving, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- channel.Run(serving, f.backend) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
	})
	f.options = cli.Options{Agent: agent{client.New("http://"+channel.Addr().String(), "")}, Dir: t.TempDir()}
	return f
}

// chat is a new terminal on the same session.
func (f *fixture) chat() *cli.Conversation { return cli.New(f.options) }

// accepted waits for the message with this index and returns it.
func (f *fixture) accepted(t *testing.T, number int) domain.Inbound {
	t.Helper()
	require.NoError(t, f.backend.Await(f.ctx, func(c channeltest.Counts) bool { return c.Accepted > number }))
	return f.backend.Accepted()[number]
}

// emit publishes an event of an accepted message.
func (f *fixture) emit(m domain.Inbound, e event.Event) {
	f.backend.Emit(f.backend.MessageID(m.Channel, m.Scope, m.PlatformID), e)
}

// end ends an accepted message.
func (f *fixture) end(m domain.Inbound, a channeltest.Answer) {
	f.backend.End(f.backend.MessageID(m.Channel, m.Scope, m.PlatformID), a)
}

// holdAllButStop replies only to /stop.
func holdAllButStop(m domain.Inbound) *channeltest.Answer {
	if m.Text == "/stop" {
		return &channeltest.Answer{Reply: "Stopped."}
	}
	return nil
}

// output is a buffer whose content can be awaited.
type output struct {
	mu      sync.Mutex
	buffer  bytes.Buffer
	changed chan struct{}
}

func newOutput() *output { return &output{changed: make(chan struct{}, 1)} }

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return o.buffer.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.String()
}

// await waits until reached accepts what was written.
func (o *output) await(ctx context.Context, t *testing.T, reached func(string) bool) {
	t.Helper()
	for !reached(o.String()) {
		select {
		case <-o.changed:
		case <-ctx.Done():
			t.Fatalf("not reached with this output:\n%s", o.String())
		}
	}
}
